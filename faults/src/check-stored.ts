import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerProcess, Settings } from './server-process.ts';
import type { EngineView } from './engine-view.ts';
import { type Disturbance, judgeWithSilences, type Promises, type Verdict } from './judge.ts';
import { countOutcomes, percentileMs } from './measure-attempts.ts';
import type { Oracle } from './oracle.ts';
import { readSilences } from './read-silences.ts';
import { readingProblems, readStored } from './read-stored.ts';
import type { Figures, Findings } from './run-fault.ts';

export type ToCheck = {
  engine: EngineView;
  oracle: Oracle;
  settings: Settings;
  disturbances: readonly Disturbance[];
  /** The processes that collect. */
  collects: readonly ServerProcess[];
  /** Where everything the oracle knows is written down. */
  dir: string;
};

/** Waits until the engine is whole, reads all it holds, and holds that against what the clients know. */
export async function checkStored(
  { engine, oracle, settings, disturbances, collects, dir }: ToCheck,
  promises: Promises,
): Promise<Findings> {
  const counts = await engine.isWhole();
  const stored = await readStored(settings);
  const silences = collects.flatMap(({ logFile }) => readSilences(logFile));
  const verdict = judgeWithSilences({ ...oracle, stored, disturbances, silences }, promises);
  writeFileSync(
    join(dir, 'oracle.json'),
    JSON.stringify({ verdict, disturbances, silences, attempts: oracle.attempts }),
  );
  const storedRequests = [...counts.values()].reduce((sum, count) => sum + count, 0);
  return {
    failures: [...readingProblems(stored, counts), ...verdict.failures],
    late: verdict.late,
    figures: { ...figuresOf(oracle, verdict), storedRequests },
  };
}

function figuresOf({ attempts, calls }: Oracle, verdict: Verdict): Figures {
  const stored = attempts.filter((attempt) => attempt.outcome === 200);
  return {
    callsSent: calls.size,
    lost: verdict.lost.length,
    ghosts: verdict.ghosts.length,
    unsettled: verdict.unsettled.length,
    storedUnheard: verdict.storedUnheard.length,
    duplicateCalls: verdict.duplicates.length,
    duplicateRequests: new Set(verdict.duplicates.map(({ places }) => places.join())).size,
    answers: countOutcomes(attempts),
    p50Ms: percentileMs(stored, 0.5),
    p99Ms: percentileMs(stored, 0.99),
  };
}
