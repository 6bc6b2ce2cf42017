import type { Fault } from './fault.ts';

const ENGINE = 'packages/rule-engine/src';
const STORE = 'packages/redis-windows/src';
const IDENTITY = 'packages/identity/src';
const SELECTION = 'services/ad-selection/src';

const LAW_12 = 'packages/redis-windows/test/law-12.property.test.ts';
const APPLY = 'packages/redis-windows/test/apply.integration.test.ts';
const DECISIONS = 'packages/redis-windows/test/decision-store.integration.test.ts';
const LADDER = 'packages/rule-engine/test/ladder.test.ts';
const WINDOW = 'packages/rule-engine/test/window.test.ts';
const POD = 'packages/rule-engine/test/fill-pod.test.ts';
const RULES = 'packages/rule-engine/test/parse-rule-set.test.ts';
const CONTENTION = 'services/ad-selection/test/contention.integration.test.ts';
const TIMED_POD = 'packages/rule-engine/test/timed-pod.property.test.ts';
const EMPTY_SLOTS = 'services/ad-selection/test/domain/empty-slots.test.ts';
const RULE_METRICS = 'services/ad-selection/test/metrics.integration.test.ts';
const PAST_RULES = 'packages/rules-feed/test/past-rules.test.ts';
const SMALL_STORES = 'packages/redis-windows/test/small-stores.integration.test.ts';
const AS_OF = 'services/ad-selection/test/as-of.integration.test.ts';
const BEARERS = 'packages/service-runtime/test/bearer-roles.test.ts';
const EDITS = 'services/rules/test/domain/edit-rules.test.ts';
const AUDIT = 'services/ad-selection/test/audit.integration.test.ts';
const DIFF = 'packages/rule-engine/test/diff-rule-sets.test.ts';
const PREVIEW = 'services/rules/test/domain/preview-tally.property.test.ts';
const SHARE = 'services/rules/test/domain/sampled-share.test.ts';
const LOST_FILL = 'services/rules/test/domain/lost-fill.test.ts';
const FINGERPRINTS = 'packages/identity/test/identity.test.ts';

/** One-line faults that systems of this kind really have, each with the test that must notice it. */
export const FAULTS: readonly Fault[] = [
  {
    name: 'old window edge: one exactly W old still counts',
    file: `${ENGINE}/timeline.ts`,
    find: 'countUpTo(instants, at - windowMs)',
    replace: 'countUpTo(instants, at - windowMs - 1)',
    test: WINDOW,
  },
  {
    name: 'new window edge: one at T does not count',
    file: `${ENGINE}/timeline.ts`,
    find: 'countUpTo(instants, at) -',
    replace: 'countUpTo(instants, at - 1) -',
    test: WINDOW,
  },
  {
    name: 'max for min: the loosest cap decides',
    file: `${ENGINE}/evaluate-ad.ts`,
    find: 'weighed.standing.room < least.standing.room',
    replace: 'weighed.standing.room > least.standing.room',
    test: LADDER,
  },
  {
    name: 'ties go to the lower rung',
    file: `${ENGINE}/evaluate-ad.ts`,
    find: 'weighed.standing.room < least.standing.room',
    replace: 'weighed.standing.room <= least.standing.room',
    test: LADDER,
  },
  {
    name: 'OFF reaches only its own rung',
    file: `${ENGINE}/ladder.ts`,
    find: 'return { caps: [], replacedBy: off, endedBy: off };',
    replace: 'return { caps: [], replacedBy: off, endedBy: undefined };',
    test: LADDER,
  },
  {
    name: 'final ends nothing',
    file: `${ENGINE}/ladder.ts`,
    find: 'endedBy: applying.find((rule) => rule.final)',
    replace: 'endedBy: undefined',
    test: LADDER,
  },
  {
    name: 'one industry OFF ends the walk for all',
    file: `${ENGINE}/ladder.ts`,
    find: 'ends.every((end) => end !== undefined)',
    replace: 'ends.some((end) => end !== undefined)',
    test: LADDER,
  },
  {
    name: 'a BLOCK yields to exemption',
    file: `${ENGINE}/ladder.ts`,
    find: 'block: findBlock(rules, ad, options)',
    replace: 'block: ad.exempt ? undefined : findBlock(rules, ad, options)',
    test: LADDER,
  },
  {
    name: 'a shadow rule replaces the generic',
    file: `${ENGINE}/ladder.ts`,
    find: '!rule.shadow && applies(rule, circumstances)',
    replace: 'applies(rule, circumstances)',
    test: LADDER,
  },
  {
    name: 'a later reservation is not looked at',
    file: `${ENGINE}/standing.ts`,
    find: 'if (standing.room < least.room) least = standing;',
    replace: '',
    test: WINDOW,
  },
  {
    name: 'a reservation a whole window later still binds',
    file: `${ENGINE}/standing.ts`,
    find: 'later - (cap.windowMs ?? 0) >= at',
    replace: 'later - (cap.windowMs ?? 0) > at',
    test: LAW_12,
  },
  {
    name: 'the pod does not count its own grants',
    file: `${ENGINE}/fill-pod.ts`,
    find: 'room: by.standing.room - granted',
    replace: 'room: by.standing.room',
    test: POD,
  },
  {
    name: 'endsAt is inclusive',
    file: `${ENGINE}/applies.ts`,
    find: 'at >= rule.endsAt',
    replace: 'at > rule.endsAt',
    test: LADDER,
  },
  {
    name: 'a window longer than the retention is taken',
    file: `${ENGINE}/parse-rule-set.ts`,
    find: 'windowMs > retentionMs',
    replace: 'windowMs > Number.MAX_SAFE_INTEGER',
    test: RULES,
  },
  {
    name: 'NX left out: a repeat counts again',
    file: `${STORE}/scripts/apply-window.lua`,
    find: "redis.call('ZADD', window, 'NX', guardScore(at), fingerprintOf(record)) == 0",
    replace: "redis.call('ZADD', window, guardScore(at), fingerprintOf(record)) < 0",
    test: APPLY,
  },
  {
    name: 'the window’s TTL left out',
    file: `${STORE}/scripts/apply-window.lua`,
    find: "if isWritten then redis.call('PEXPIRE', window, keepMs) end",
    replace: '',
    test: APPLY,
  },
  {
    name: 'a reservation is not removed by its impression',
    file: `${STORE}/scripts/prelude.lua`,
    find: "redis.call('ZREM', reservations, table.remove(held, found))",
    replace: 'table.remove(held, found)',
    test: APPLY,
  },
  {
    name: 'the version check left out of the commit',
    file: `${STORE}/scripts/commit-reservations.lua`,
    find: "if tonumber(redis.call('HGET', meta, 'v') or 0) ~= expectedVersion then return REFUSED.conflict end",
    replace: '',
    test: DECISIONS,
  },
  {
    name: 'the not-after check left out of the commit',
    file: `${STORE}/scripts/commit-reservations.lua`,
    find: 'if now > notAfter then return REFUSED.tooLate end',
    replace: '',
    test: DECISIONS,
  },
  {
    name: 'a commit does not raise the version',
    file: `${STORE}/scripts/prelude.lua`,
    find: "redis.call('HINCRBY', meta, 'v', 1)",
    replace: "redis.call('HINCRBY', meta, 'v', 0)",
    test: DECISIONS,
  },
  {
    name: 'expired reservations are read as live',
    file: `${STORE}/scripts/read-decision.lua`,
    find: "'(' .. text(now), '+inf')",
    replace: "'-inf', '+inf'",
    test: DECISIONS,
  },
  {
    name: 'a window that was lost and begun anew is taken for whole',
    file: `${STORE}/scripts/read-decision.lua`,
    find: "'(' .. text(timeOf(members[1]))) == 0",
    replace: "'(0') == 0",
    test: DECISIONS,
  },
  {
    name: 'an old impression takes the reservation of a pod that was decided since',
    file: `${STORE}/scripts/prelude.lua`,
    find: ' and grantedAtOf(member) <= receivedAt',
    replace: '',
    test: APPLY,
  },
  {
    name: 'a retry does not confirm what it is answered with',
    file: `${SELECTION}/domain/decide.ts`,
    find: 'stored.isConfirmed === true',
    replace: 'stored.isConfirmed !== false',
    test: CONTENTION,
  },
  {
    name: 'a commit whose answer was lost is left alone',
    file: `${SELECTION}/adapters/reservation-keeper.ts`,
    find: 'if (mayHaveBeenDone(error)) takeBack();',
    replace: 'void error;',
    test: CONTENTION,
  },
  {
    name: 'a busy process takes its own pause for one of the store',
    file: `${SELECTION}/adapters/deadline.ts`,
    find: 'if (waitedMs() - waitedBefore >= leastWaitMs) return true;',
    replace: 'return true;',
    test: 'services/ad-selection/test/adapters/deadline.test.ts',
  },
  {
    name: 'a store that fails after a conflict opens the answer',
    file: `${SELECTION}/select-break.ts`,
    find: 'return unheld(outcome.failed)',
    replace: 'return open(ask, outcome.failed)',
    test: CONTENTION,
  },
  {
    name: 'the seconds of earlier rounds and placed ads are not counted',
    file: `${ENGINE}/fill-pod.ts`,
    find: 'this.#durationMs + durationMs > podDurationMs',
    replace: 'durationMs > podDurationMs',
    test: TIMED_POD,
  },
  {
    name: 'one candidate left over is told as the reason of every empty slot',
    file: `${SELECTION}/domain/empty-slots.ts`,
    find: 'position < causes.size ? shared : NOBODY',
    replace: 'shared',
    test: EMPTY_SLOTS,
  },
  {
    name: 'a repeated answer is counted again for each rule',
    file: `${SELECTION}/metrics.ts`,
    find: 'if (isRepeat) return;',
    replace: '',
    test: RULE_METRICS,
  },
  {
    name: 'a version of the rules that is missing is taken for the one before it',
    file: 'packages/rules-feed/src/past-rules.ts',
    find: 'return isWhole ? this.#compiled(found) : undefined;',
    replace: 'return this.#compiled(found);',
    test: PAST_RULES,
  },
  {
    name: 'the slot dropped from the fingerprint of a break',
    file: `${IDENTITY}/impression-identity.ts`,
    find: "fingerprintOf(['break', deviceId, sessionId ?? null, breakId, creativeId, slot ?? null])",
    replace: "fingerprintOf(['break', deviceId, sessionId ?? null, breakId, creativeId])",
    test: FINGERPRINTS,
  },
  {
    name: 'the device dropped from the fingerprint of a reservation',
    file: `${IDENTITY}/impression-identity.ts`,
    find: "fingerprintOf(['reservation', deviceId, reservationId])",
    replace: "fingerprintOf(['reservation', reservationId])",
    test: FINGERPRINTS,
  },
  {
    name: 'asOf: a Redis emptied under its connection is written on as if nothing were missing',
    file: `${STORE}/scripts/advance-applied.lua`,
    find: "if expectedOffset ~= '' and",
    replace: 'if false and',
    test: SMALL_STORES,
  },
  {
    name: 'asOf: the instant goes back when a partition is read again',
    file: `${STORE}/scripts/advance-applied.lua`,
    find: 'math.max(before, math.min(asOfMs, nowMs()))',
    replace: 'math.min(asOfMs, nowMs())',
    test: SMALL_STORES,
  },
  {
    name: 'asOf: one that is not known passes for fresh',
    file: 'services/ad-selection/src/freshness.ts',
    find: 'asOf === undefined || nowMs - asOf > staleAfterMs',
    replace: 'asOf !== undefined && nowMs - asOf > staleAfterMs',
    test: AS_OF,
  },
  {
    name: 'asOf: of a decision from a history that is behind is that of the window',
    file: 'services/ad-selection/src/adapters/applied-until.ts',
    find: "source === 'history' || quota === undefined",
    replace: 'quota === undefined',
    test: AS_OF,
  },
  {
    name: 'access: a name whose token was not set is a token',
    file: 'packages/service-runtime/src/access-tokens.ts',
    find: "if (secret.replaceAll('=', '') === '') return 'has a name without a token';",
    replace: '',
    test: BEARERS,
  },
  {
    name: 'access: the digest of a token opens as the token does',
    file: 'packages/service-runtime/src/bearer-roles.ts',
    find: 'const digest = digestOf(presented);',
    replace: "const digest = presented.length === 64 ? Buffer.from(presented, 'hex') : digestOf(presented);",
    test: BEARERS,
  },
  {
    name: 'rules: one rule is judged by itself, not with the others',
    file: 'services/rules/src/domain/edit-rules.ts',
    find: 'return set.ok ? set.draft : invalidRules(set.errors);',
    replace: 'return set.ok ? set.draft : draft;',
    test: EDITS,
  },
  {
    name: 'audit: a device is named as the platform calls it',
    file: `${SELECTION}/routes/device-target.ts`,
    find: 'deviceTag(deviceId)}',
    replace: 'deviceId}',
    test: AUDIT,
  },
  {
    name: 'diff: another order of the values of a condition is a change',
    file: `${ENGINE}/diff-rule-sets.ts`,
    find: '[...new Set(values)].toSorted()',
    replace: 'values',
    test: DIFF,
  },
  {
    name: 'a preview counts what it has blocked',
    file: `${ENGINE}/replay.ts`,
    find: 'if (!allowed) return (block ?? binding?.cap)?.rule;',
    replace:
      'if (!allowed) { watched.add({ ...countedAs(view.ad), at: view.at }); return (block ?? binding?.cap)?.rule; }',
    test: PREVIEW,
  },
  {
    name: 'a preview takes the impressions of a device for independent observations',
    file: 'services/rules/src/domain/sampled-share.ts',
    find: '(unseen * devices * deviations) / ((devices - 1) * all * all)',
    replace: '(unseen * share * (1 - share)) / all',
    test: SHARE,
  },
  {
    name: 'a slot is lost although something was left over for it',
    file: 'services/rules/src/domain/lost-fill.ts',
    find: '.length - spare)',
    replace: '.length)',
    test: LOST_FILL,
  },
];
