/**
 * One at a time for each device, in the order of arrival: decisions of one process never conflict with each other. Nothing is
 * kept of a device that nobody waits for.
 */
export class DeviceTurns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<T>(deviceId: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(deviceId) ?? Promise.resolve();
    const turn = before.then(work, work);
    this.#last.set(deviceId, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(deviceId) === turn) this.#last.delete(deviceId);
    }
  }
}
