import { type Complaint, trueOnes } from '../complaints.ts';
import { joinFindings } from '../join-findings.ts';
import type { SentCall } from '../oracle.ts';
import type { Findings } from '../run-fault.ts';
import { judgeRecord, type RecordEvidence } from './judge-record.ts';
import type { Arrival } from './read-arrival.ts';

/** Everything that is recorded, by the names of the plan. */
export type WholeRecord = RecordEvidence & {
  attempts: number;
  /** Calls by source. */
  usage: ReadonlyMap<string, number>;
};

export type RecordTruth = {
  arrivals: readonly Arrival[];
  calls: ReadonlyMap<string, Pick<SentCall, 'sourceId' | 'answered'>>;
  /** Events that collect stored more than once, and how often more: they are used so often. */
  storedAgain: ReadonlyMap<string, number>;
};

/** When no process that delivers has died, the record and the receivers agree to the last attempt. */
export function judgeWholeRecord(record: WholeRecord, { arrivals, ...truth }: RecordTruth): Findings {
  const failed = arrivals.filter(({ status }) => status === 500).length;
  const retries = record.counts.get('retry') ?? 0;
  const others = [...record.counts.keys()].filter((outcome) => outcome !== 'delivered' && outcome !== 'retry');
  const wrongUsage = usageProblems(record.usage, truth);
  const complaints: Complaint[] = [
    [retries !== failed, `${retries} retries are counted, but ${failed} answers were 500`],
    [record.attempts !== arrivals.length, `${record.attempts} attempts are recorded, but ${arrivals.length} arrived`],
    [others.length > 0, `what nobody saw is counted: ${others.join(', ')}`],
    [wrongUsage.length > 0, `usage is wrong: ${wrongUsage.join('; ')}`],
  ];
  const figures = {
    recordedAttempts: record.attempts,
    injected500s: failed,
    usage: sumOf(record.usage.values()),
  };
  return joinFindings(judgeRecord(record, arrivals), { failures: trueOnes(complaints), figures });
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
