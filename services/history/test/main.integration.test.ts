import { fileURLToPath } from 'node:url';
import { describeConsumerMain } from '@adcap/impression-consumer/testing';

describeConsumerMain({
  main: fileURLToPath(new URL('../src/main.ts', import.meta.url)),
  portVariable: 'ADCAP_HISTORY_PORT',
  store: 'history',
});
