import { type Complaint, trueOnes } from '../complaints.ts';
import { joinFindings } from '../join-findings.ts';
import type { SentCall } from '../oracle.ts';
import type { Findings } from '../run-fault.ts';
import { judgeRecord, type RecordEvidence } from './judge-record.ts';
import type { Arrival } from './read-arrival.ts';

/** Everything that is recorded, by the names of the plan. */
export type WholeRecord = RecordEvidence & {
  attempts: number;
  /** Attempts among them whose answer deliver never saw. */
  unanswered: number;
  /** Calls by source. */
  usage: ReadonlyMap<string, number>;
};

export type RecordTruth = {
  arrivals: readonly Arrival[];
  calls: ReadonlyMap<string, Pick<SentCall, 'sourceId' | 'answered'>>;
  /** Events that collect stored more than once, and how often more: they are used so often. */
  storedAgain: ReadonlyMap<string, number>;
  /** Whether attempts, or their answers, may have vanished between deliver and a receiver: such an attempt may have arrived or not. */
  mayVanish?: boolean;
};

/** When no process that delivers has died, the record and the receivers agree to the last attempt whose answer deliver saw. */
export function judgeWholeRecord(
  record: WholeRecord,
  { arrivals, mayVanish = false, ...truth }: RecordTruth,
): Findings {
  const failed = arrivals.filter(({ status }) => status === 500).length;
  const retries = record.counts.get('retry') ?? 0;
  const vanished = mayVanish ? record.unanswered : 0;
  const others = [...record.counts.keys()].filter((outcome) => outcome !== 'delivered' && outcome !== 'retry');
  const wrongUsage = usageProblems(record.usage, truth);
  const and = vanished === 0 ? '' : `, and ${vanished} had no answer`;
  const complaints: Complaint[] = [
    [!isBetween(retries, failed, vanished), `${retries} retries are counted, but ${failed} answers were 500${and}`],
    [
      !isBetween(record.attempts, arrivals.length, vanished),
      `${record.attempts} attempts are recorded, but ${arrivals.length} arrived${and}`,
    ],
    [others.length > 0, `what nobody saw is counted: ${others.join(', ')}`],
    [wrongUsage.length > 0, `usage is wrong: ${wrongUsage.join('; ')}`],
  ];
  const figures = {
    recordedAttempts: record.attempts,
    unansweredAttempts: record.unanswered,
    injected500s: failed,
    usage: sumOf(record.usage.values()),
  };
  return joinFindings(judgeRecord(record, arrivals), { failures: trueOnes(complaints), figures });
}

/** At least as many, and at most so many more. */
function isBetween(count: number, least: number, more: number): boolean {
  return count >= least && count <= least + more;
}

function usageProblems(usage: WholeRecord['usage'], { calls, storedAgain }: Omit<RecordTruth, 'arrivals'>): string[] {
  const accepted = new Map<string, number>();
  for (const [id, { sourceId, answered }] of calls) {
    if (answered === undefined) continue;
    accepted.set(sourceId, (accepted.get(sourceId) ?? 0) + 1 + (storedAgain.get(id) ?? 0));
  }
  const sources = new Set([...usage.keys(), ...accepted.keys()]);
  return [...sources]
    .filter((source) => usage.get(source) !== accepted.get(source))
    .map((source) => `${source} has ${usage.get(source) ?? 0}, but ${accepted.get(source) ?? 0} were accepted`);
}

function sumOf(numbers: Iterable<number>): number {
  return [...numbers].reduce((sum, number) => sum + number, 0);
}
