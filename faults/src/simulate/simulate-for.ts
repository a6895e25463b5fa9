import { type RunNeeds, type RunReport, runSeed } from './run-seed.ts';
import { shrink } from './shrink.ts';

export type SimulateNeeds = Pick<RunNeeds, 'seed' | 'kinds' | 'plant' | 'loadMs'> & { runs: number; wallMs: number };

export type SimulateResult = {
  ok: boolean;
  seed: number;
  runs: number;
  simulatedHours: number;
  /** Events of the virtual clock. */
  steps: number;
  accepted: number;
  posts: number;
  repeated: number;
  faults: number;
  /** Runs in which things happened in an order that no other run had. */
  interleavings: number;
  violations: number;
  /** The first run that broke an invariant, with as few kinds of faults as still break one. */
  failed?: { seed: number; faults: string; violations: RunReport['violations']; replay: string };
};

const SHOWN = 5;
const HOUR_MS = 3_600_000;

/** Runs one seed after the other, until the time is over or one fails. */
export async function simulateFor(needs: SimulateNeeds, say: (line: string) => void): Promise<SimulateResult> {
  const { runs, wallMs, ...each } = needs;
  const { seed } = each;
  const untilMs = performance.now() + wallMs;
  const reports: RunReport[] = [];
  while (reports.length < runs && (reports.length === 0 || performance.now() < untilMs)) {
    const report = await runSeed({ ...each, seed: seed + reports.length });
    reports.push(report);
    say(lineOf(report));
    if (report.violations.length > 0) return { ...sumOf(seed, reports), failed: await explain(report, needs, say) };
  }
  return sumOf(seed, reports);
}

function sumOf(seed: number, reports: readonly RunReport[]): SimulateResult {
  const sum = (number: (report: RunReport) => number) => reports.reduce((total, report) => total + number(report), 0);
  const violations = sum((report) => report.violations.length);
  return {
    ok: violations === 0,
    seed,
    runs: reports.length,
    simulatedHours: Math.round((sum(({ simulatedMs }) => simulatedMs) / HOUR_MS) * 100) / 100,
    steps: sum(({ events }) => events),
    accepted: sum(({ accepted }) => accepted),
    posts: sum(({ posts }) => posts),
    repeated: sum(({ repeated }) => repeated),
    faults: sum(({ faults }) => faults),
    interleavings: new Set(reports.map(({ order }) => order)).size,
    violations,
  };
}

type Failed = NonNullable<SimulateResult['failed']>;

async function explain(
  report: RunReport,
  { plant, loadMs }: SimulateNeeds,
  say: (line: string) => void,
): Promise<Failed> {
  const smallest = await shrink(report, (kinds) => runSeed({ seed: report.seed, kinds, plant, loadMs }));
  const faults = smallest.kinds.join(',');
  const planted = plant === undefined ? '' : ` --plant ${plant}`;
  const replay = `npm run simulate -- --runs 1 --seed ${report.seed} --faults '${faults}'${planted}`;
  say(`seed ${report.seed} fails; again: ${replay}`);
  return { seed: report.seed, faults, violations: smallest.violations.slice(0, SHOWN), replay };
}

function lineOf({ seed, simulatedMs, accepted, posts, repeated, faults, violations, trace }: RunReport): string {
  const facts = `${Math.round(simulatedMs / 1_000)} s, ${accepted} accepted, ${posts} POSTs, ${repeated} repeated, ${faults} faults`;
  return `seed ${seed}: ${facts}, ${violations.length} violations, trace ${trace}`;
}
