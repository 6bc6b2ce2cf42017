import { defineConfig } from 'vitest/config';

const kinds = {
  unit: ['**/test/**/*.test.ts'],
  integration: ['**/test/**/*.integration.test.ts'],
  e2e: ['infra/e2e/test/**/*.e2e.test.ts'],
};

const skip = ['**/node_modules/**', '**/dist/**'];

export default defineConfig({
  test: {
    retry: 0,
    passWithNoTests: false,
    projects: [
      {
        test: {
          name: 'unit',
          include: kinds.unit,
          exclude: [...skip, ...kinds.integration, ...kinds.e2e],
          testTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: kinds.integration,
          exclude: skip,
          globalSetup: ['packages/testkit/src/global-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'e2e',
          include: kinds.e2e,
          exclude: skip,
          globalSetup: ['packages/testkit/src/global-setup.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
