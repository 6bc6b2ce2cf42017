import { AppError } from '@adcap/contracts';
import { type DecisionStore, isRetryableStoreError } from '@adcap/redis-windows';
import { Deadline } from './deadline.ts';

export type PatientStore = Pick<DecisionStore, 'release' | 'inspect' | 'erase'>;

/** Nobody waits for a break here; long enough for a device with thousands of impressions. */
const PATIENCE_MS = 2_000;

const patiently = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await new Deadline(PATIENCE_MS).race(work);
  } catch (error) {
    if (!isRetryableStoreError(error)) throw error;
    throw new AppError('ADCAP_STORE_UNAVAILABLE', 'the store did not answer', { cause: error });
  }
};

/**
 * What is not a decision and must not fail open: releases and what operators do. Failure policy: throws
 * ADCAP_STORE_UNAVAILABLE while the store is away; every call may be repeated.
 */
export const createPatientStore = (store: PatientStore): PatientStore => ({
  release: (of) => patiently(store.release(of)),
  inspect: (deviceId) => patiently(store.inspect(deviceId)),
  erase: (deviceId) => patiently(store.erase(deviceId)),
});
