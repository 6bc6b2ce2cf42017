import {
  type CandidateInput,
  type EmptySlot,
  LIMITS,
  type PodPlace,
  type SelectionRequestInput,
} from '@adcap/contracts';

/** What an ad counts as where it tells no duration; the service reckons the same. */
const DEFAULT_DURATION_MS = 30_000;

/** The service refuses more slots than the limit; the client only must not fail over them. */
const slotsOf = ({ slots }: SelectionRequestInput): readonly { maxMs?: number | null | undefined }[] =>
  typeof slots === 'number'
    ? Array.from({ length: Math.min(slots, LIMITS.slots) }, () => ({}))
    : (slots ?? []).slice(0, LIMITS.slots);

const durationOf = ({ durationMs }: CandidateInput): number => durationMs ?? DEFAULT_DURATION_MS;

/** Whoever is left over was too long for every slot that stayed empty; beyond that nobody was left. */
const whyEmpty = (empty: readonly number[], left: number): { emptySlots?: EmptySlot[] } =>
  empty.length === 0
    ? {}
    : {
        emptySlots: empty.map((slot, position) => ({
          slot,
          reasons: [
            position < left
              ? { reason: 'tooLong', candidates: left }
              : { reason: 'noCandidates', candidates: 0 },
          ],
        })),
      };

/**
 * A pod in the caller's order of preference, as if nothing were capped. Nothing is reserved, so reservation ids are
 * empty; the beacon reads an empty one as none.
 */
export const fillOpenly = (
  request: SelectionRequestInput,
): { pod: PodPlace[]; unfilled: number; emptySlots?: EmptySlot[] } => {
  const slots = slotsOf(request);
  const waiting = request.candidates.map((candidate, index) => ({ candidate, index }));
  const pod: PodPlace[] = [];
  const empty: number[] = [];
  let leftMs = request.podDurationMs ?? Number.POSITIVE_INFINITY;
  for (const [position, { maxMs }] of slots.entries()) {
    const longestMs = Math.min(maxMs ?? Number.POSITIVE_INFINITY, leftMs);
    const at = waiting.findIndex(({ candidate }) => durationOf(candidate) <= longestMs);
    const [chosen] = at === -1 ? [] : waiting.splice(at, 1);
    if (chosen === undefined) {
      empty.push(position + 1);
      continue;
    }
    leftMs -= durationOf(chosen.candidate);
    pod.push({
      slot: position + 1,
      index: chosen.index,
      creativeId: chosen.candidate.creativeId,
      reservationId: '',
    });
  }
  return { pod, unfilled: empty.length, ...whyEmpty(empty, waiting.length) };
};
