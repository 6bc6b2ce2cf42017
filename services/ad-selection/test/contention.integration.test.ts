import { deviceTag } from '@adcap/identity';
import { createKeys, type DecisionStore } from '@adcap/redis-windows';
import { waitFor } from '@adcap/testkit';
import { describe, expect } from 'vitest';
import { test } from './fixtures.ts';
import { rulesOf, type Selection, startSelection } from './start-selection.ts';

const rules = rulesOf([{ id: 'hourly', dimension: 'creative', limit: { max: 1, window: '60m' } }]);
const now = Date.now();
const ask = (more: Record<string, unknown> = {}) => ({
  deviceId: 'd1',
  breakId: 'b1',
  breakAt: now,
  slots: 1,
  candidates: [{ creativeId: 'c1' }, { creativeId: 'c2' }],
  ...more,
});
const remaining = async (selection: Selection) => {
  const answer = await selection.select(ask({ breakId: 'look', breakAt: now + 1, slots: 0 }));
  return answer.candidates.map((candidate) => candidate.remaining);
};

/** A service whose store is the real one with something in its way. */
const startThrough = async (
  { redisUrl, keyPrefix }: { redisUrl: string; keyPrefix: string },
  through: (store: DecisionStore) => DecisionStore,
  config: Record<string, string> = {},
): Promise<Selection> => {
  const selection = await startSelection({ redisUrl, keyPrefix, through, config });
  selection.setRules(rules);
  return selection;
};

describe('once the store was read no answer allows everything', () => {
  test('after three conflicts with other processes the slots stay empty and the quotas hold', async ({
    selection,
    redisUrl,
    keyPrefix,
  }) => {
    selection.setRules(rules);
    let commits = 0;
    const contended = await startThrough({ redisUrl, keyPrefix }, (store) => ({
      ...store,
      commit: async (commit) => {
        commits += 1;
        // Another process is faster each time, and takes c1 first of all.
        await selection.select(
          ask({ breakId: `other-${commits}`, candidates: [{ creativeId: commits === 1 ? 'c1' : 'c9' }] }),
        );
        return store.commit(commit);
      },
    }));
    expect(await contended.select(ask())).toMatchObject({
      source: 'quotas',
      degraded: true,
      degradedReason: 'contended',
      reserved: false,
      pod: [],
      unfilled: 1,
      emptySlots: [{ slot: 1, reasons: [{ reason: 'capped', candidates: 1 }, { reason: 'contended' }] }],
      candidates: [
        { outcome: 'capped', blockedBy: { reserved: 1 } },
        { outcome: 'noSlot', allowed: true, remaining: 1 },
      ],
    });
    expect(commits).toBe(3);
    expect(await contended.registry.metrics()).toContain('adcap_ad_selection_commit_conflicts_total 3');
    expect(await remaining(selection)).toEqual([0, 1]);
    await contended.close();
  });

  test('also where the store fails after a conflict', async ({ selection, redisUrl, keyPrefix }) => {
    selection.setRules(rules);
    let reads = 0;
    const contended = await startThrough({ redisUrl, keyPrefix }, (store) => ({
      ...store,
      read: async (of) => {
        reads += 1;
        if (reads > 1) throw new Error('the connection is broken');
        return store.read(of);
      },
      commit: async (commit) => {
        await selection.select(ask({ breakId: 'other' }));
        return store.commit(commit);
      },
    }));
    expect(await contended.select(ask())).toMatchObject({
      source: 'quotas',
      degraded: true,
      degradedReason: 'store_error',
      reserved: false,
      pod: [],
      unfilled: 1,
    });
    await contended.close();
  });

  test('one conflict is decided again from what it met', async ({ selection, redisUrl, keyPrefix }) => {
    selection.setRules(rules);
    let isFirst = true;
    const contended = await startThrough({ redisUrl, keyPrefix }, (store) => ({
      ...store,
      commit: async (commit) => {
        if (isFirst) await selection.select(ask({ breakId: 'other' }));
        isFirst = false;
        return store.commit(commit);
      },
    }));
    expect(await contended.select(ask())).toMatchObject({
      degraded: false,
      reserved: true,
      pod: [{ slot: 1, index: 1, creativeId: 'c2' }],
    });
    await contended.close();
  });

  test('a commit that comes too late is refused: the pod is listed and holds nothing', async ({
    selection,
    redisUrl,
    keyPrefix,
  }) => {
    selection.setRules(rules);
    const answered = Promise.withResolvers<void>();
    const tried = Promise.withResolvers<unknown>();
    const late = await startThrough(
      { redisUrl, keyPrefix },
      (store) => ({
        ...store,
        commit: async (commit) => {
          await answered.promise;
          const outcome = await store.commit(commit);
          tried.resolve(outcome);
          return outcome;
        },
      }),
      { ADCAP_AD_SELECTION_DEADLINE_MS: '100' },
    );
    expect(await late.select(ask())).toMatchObject({
      source: 'quotas',
      degraded: true,
      degradedReason: 'commit_late',
      reserved: false,
      pod: [{ slot: 1, creativeId: 'c1' }],
      unfilled: 0,
    });
    answered.resolve();
    expect(await tried.promise).toEqual({ kind: 'too_late' });
    expect(await remaining(selection)).toEqual([1, 1]);
    await late.close();
  });

  test('a commit whose answer was lost is taken back once the store is there again', async ({
    selection,
    redisUrl,
    keyPrefix,
  }) => {
    selection.setRules(rules);
    let isAway = false;
    const lost = await startThrough({ redisUrl, keyPrefix }, (store) => ({
      ...store,
      read: async (of) => {
        if (isAway) throw new Error('there is no connection');
        return store.read(of);
      },
      commit: async (commit) => {
        await store.commit(commit);
        if (commit.storedPod === undefined) return { kind: 'committed', version: 0 };
        isAway = true;
        throw new Error('the connection was lost');
      },
    }));
    expect(await lost.select(ask())).toMatchObject({ reserved: false, degradedReason: 'store_error' });
    expect(await remaining(selection)).toEqual([0, 1]);
    isAway = false;
    await waitFor(async () => (await remaining(selection)).join() === '1,1', {
      what: 'what was committed is taken back',
    });
    await lost.close();
  });

  test('what a retry was answered with is not taken back', async ({ selection, redisUrl, keyPrefix }) => {
    selection.setRules(rules);
    let looks = 0;
    const late = await startThrough(
      { redisUrl, keyPrefix },
      (store) => ({
        ...store,
        read: async (of) => {
          const reading = await store.read(of);
          if (reading.storedPod !== undefined) looks += 1;
          // Between the look and the taking back another process answers a retry, each time.
          if (looks === 1) expect(await selection.select(ask())).toMatchObject({ reserved: true });
          return reading;
        },
        commit: async (commit) => {
          const outcome = await store.commit(commit);
          const answer = Promise.withResolvers<typeof outcome>();
          setTimeout(() => answer.resolve(outcome), 150);
          return answer.promise;
        },
      }),
      { ADCAP_AD_SELECTION_DEADLINE_MS: '100' },
    );
    expect(await late.select(ask())).toMatchObject({ reserved: false, degradedReason: 'commit_late' });
    await waitFor(() => looks >= 2, { what: 'it is looked at again after the conflict' });
    expect(await remaining(selection)).toEqual([0, 1]);
    await late.close();
  });

  test('a commit whose answer comes too late is taken back, down to the round before', async ({
    selection,
    redisUrl,
    keyPrefix,
  }) => {
    selection.setRules(rules);
    let isSlow = false;
    const late = await startThrough(
      { redisUrl, keyPrefix },
      (store) => ({
        ...store,
        commit: async (commit) => {
          const outcome = await store.commit(commit);
          const answer = Promise.withResolvers<typeof outcome>();
          if (!isSlow || commit.notAfterMs === Number.MAX_SAFE_INTEGER) return outcome;
          setTimeout(() => answer.resolve(outcome), 300);
          return answer.promise;
        },
      }),
      { ADCAP_AD_SELECTION_DEADLINE_MS: '200' },
    );
    const first = await late.select(ask({ slots: 2, candidates: [{ creativeId: 'c1' }] }));
    isSlow = true;
    const second = ask({ round: 2, slots: 2, candidates: [{ creativeId: 'c2' }] });
    expect(await late.select(second)).toMatchObject({ reserved: false, degradedReason: 'commit_late' });
    expect(await late.select(ask({ breakId: 'b2', candidates: [{ creativeId: 'c3' }] }))).toMatchObject({
      reserved: false,
    });
    await waitFor(
      async () =>
        (await late.registry.metrics()).includes('adcap_ad_selection_late_commits_undone_total 2') &&
        (await remaining(selection)).join() === '0,1',
      { what: 'what was committed late is taken back' },
    );
    isSlow = false;
    const again = await late.select(ask({ slots: 2, candidates: [] }));
    expect(again).toMatchObject({ reserved: true, pod: first.pod });
    expect(await late.select(second)).toMatchObject({ reserved: true, degraded: false, unfilled: 0 });
    await late.close();
  });
});

test('a window that was deleted, and begun anew by a consumer that is ahead, is made whole from the history', async ({
  selection,
  watch,
  watchOnly,
  redis,
  keyPrefix,
}) => {
  selection.setRules(rulesOf([{ dimension: 'creative', limit: { max: 3, window: '60m' } }]));
  await watch([{ at: now - 2_000 }]);
  await redis.del(createKeys(keyPrefix).device(deviceTag('d1')).window);
  await watchOnly('window')([{ at: now - 1_000 }]);
  expect(await selection.select(ask({ slots: 0 }))).toMatchObject({
    source: 'history',
    degraded: false,
    candidates: [{ remaining: 1 }, { remaining: 3 }],
  });
});

test('law 12: one consumer an hour behind the other is right from whichever is ahead', async ({
  selection,
  watchOnly,
}) => {
  selection.setRules(rulesOf([{ dimension: 'creative', limit: { max: 3, window: '60m' } }]));
  const inTheLastHour = [59, 30, 1].map((minutes) => ({ at: now - minutes * 60_000 }));
  await watchOnly('history')(inTheLastHour.map((view) => ({ ...view, deviceId: 'quota is behind' })));
  await watchOnly('window')(inTheLastHour.map((view) => ({ ...view, deviceId: 'history is behind' })));
  const capped = { degraded: false, candidates: [{ remaining: 0 }, { remaining: 3 }] };
  const look = (deviceId: string) => selection.select(ask({ deviceId, slots: 0 }));
  expect(await look('quota is behind')).toMatchObject({ ...capped, source: 'history' });
  expect(await look('history is behind')).toMatchObject({ ...capped, source: 'quotas' });
});

test('a read history that fails leaves the window, and the answer says so', async ({
  redisUrl,
  keyPrefix,
  watchOnly,
}) => {
  await watchOnly('history')([{ at: now - 60_000 }]);
  const selection = await startThrough({ redisUrl, keyPrefix }, (store) => ({
    ...store,
    read: async (of) => {
      if (of.from === 'both') throw new Error('the history cannot be read');
      return store.read(of);
    },
  }));
  expect(await selection.select(ask({ slots: 0 }))).toMatchObject({
    source: 'quotas',
    degraded: true,
    degradedReason: 'history_incomplete',
  });
  await selection.close();
});

test('past the bound on decisions under way the next is answered open at once', async ({
  redisUrl,
  keyPrefix,
}) => {
  const reached = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const selection = await startThrough(
    { redisUrl, keyPrefix },
    (store) => ({
      ...store,
      read: async (of) => {
        reached.resolve();
        await release.promise;
        return store.read(of);
      },
    }),
    { ADCAP_AD_SELECTION_MAX_IN_FLIGHT: '1' },
  );
  const first = selection.select(ask());
  await reached.promise;
  expect(await selection.select(ask({ deviceId: 'd2' }))).toMatchObject({
    source: 'open',
    degraded: true,
    degradedReason: 'overload',
    reserved: false,
    pod: [{ creativeId: 'c1' }],
  });
  release.resolve();
  expect(await first).toMatchObject({ source: 'quotas', reserved: true });
  await selection.close();
});
