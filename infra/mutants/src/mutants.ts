import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cacheFolder, startKafka, startRedis } from '@adcap/local-servers';
import { copyTree } from './copy-tree.ts';
import type { Fault } from './fault.ts';
import { FAULTS } from './faults.ts';
import { runTests, type TestRun } from './run-tests.ts';

/*
 * pnpm mutants [NAME]: plants each named fault in a copy of the tree and says which test went red. A fault that no test
 * notices, or that cannot be planted, ends the run with 1.
 */

const root = path.resolve(import.meta.dirname, '../../..');
const only = process.argv[2];

const plant = (copy: string, fault: Fault): (() => void) => {
  const file = path.join(copy, fault.file);
  const original = readFileSync(file, 'utf8');
  const places = original.split(fault.find).length - 1;
  if (places !== 1) throw new Error(`${fault.name}: "${fault.find}" stands ${places} times in ${fault.file}`);
  writeFileSync(
    file,
    original.replace(fault.find, () => fault.replace),
  );
  return () => writeFileSync(file, original);
};

const tryFault = (copy: string, fault: Fault, env: NodeJS.ProcessEnv): TestRun => {
  const undo = plant(copy, fault);
  try {
    return runTests(copy, [fault.test], env);
  } finally {
    undo();
  }
};

const chosen = FAULTS.filter(({ name }) => only === undefined || name.includes(only));
const dataDir = mkdtempSync(path.join(tmpdir(), 'adcap-mutants-data-'));
const options = { cacheDir: cacheFolder(), dataDir };
await using redis = await startRedis(options);
await using kafka = await startKafka(options);
const env = { ...process.env, ADCAP_TEST_REDIS: redis.address, ADCAP_TEST_KAFKA: kafka.address };
const copy = copyTree(root);

const baseline = runTests(copy, [...new Set(chosen.map(({ test }) => test))], env);
if (baseline.failed > 0 || baseline.passed === 0) {
  console.error(baseline.output);
  throw new Error(`without a fault: ${baseline.passed} passed, ${baseline.failed} failed`);
}
console.log(`without a fault: ${baseline.passed} passed`);

const survivors: string[] = [];
for (const fault of chosen) {
  const { failed } = tryFault(copy, fault, env);
  if (failed === 0) survivors.push(fault.name);
  console.log(`${failed > 0 ? 'caught  ' : 'SURVIVED'}  ${fault.name}  (${fault.test})`);
}
rmSync(copy, { recursive: true, force: true });
rmSync(dataDir, { recursive: true, force: true });
console.log(`${chosen.length - survivors.length} of ${chosen.length} faults caught`);
process.exitCode = survivors.length > 0 ? 1 : 0;
