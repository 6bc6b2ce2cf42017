import type { CandidateAnswer } from '@adcap/contracts';
import type { Judged } from './evaluate-entries.ts';

const podWindowMax = ({ evaluation }: Judged): number | null => {
  const podCaps = evaluation.caps.filter(({ cap }) => cap.windowMs === null);
  return podCaps.length === 0 ? null : Math.min(...podCaps.map(({ cap }) => cap.max));
};

/**
 * What an answer that knows nothing may say about its candidates: no numbers of windows that nobody has looked at. Only what one pod
 * may hold is known.
 */
export const withoutCounts = (
  answers: readonly CandidateAnswer[],
  judged: readonly Judged[],
): CandidateAnswer[] => {
  const byIndex = new Map(judged.map((one) => [one.entry.index, one]));
  return answers.map((answer) => {
    const one = byIndex.get(answer.index);
    return one === undefined || !answer.allowed ? answer : { ...answer, remaining: podWindowMax(one) };
  });
};
