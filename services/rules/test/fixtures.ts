import { test as base } from '@adcap/testkit';
import { type RulesService, type Servers, startRulesService } from './start-rules-service.ts';

/** A rules service that is up, with its first, empty version. */
export const test = base.extend<{ servers: Servers; service: RulesService }>({
  servers: async ({ redisUrl, kafkaBrokers, keyPrefix, topicPrefix, topics: _topics }, use) =>
    use({ redisUrl, kafkaBrokers, keyPrefix, topicPrefix }),
  service: async ({ servers }, use) => {
    await using service = await startRulesService(servers);
    await service.whenUp();
    await use(service);
  },
});
