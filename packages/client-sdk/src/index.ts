export {
  type BeaconClient,
  type BeaconClientOptions,
  createBeaconClient,
  type ImpressionBatch,
} from './beacon-client.ts';
export { BeaconClientError } from './beacon-client-error.ts';
export {
  createSelectionClient,
  type SelectionClient,
  type SelectionClientOptions,
} from './selection-client.ts';
export {
  CLIENT_REASONS,
  type ClientFault,
  type ClientReason,
  type SelectionResult,
} from './selection-result.ts';
