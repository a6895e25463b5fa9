import { boundFor, judgeArrivals, judgeUnharmed } from '../cells/judge-cells.ts';
import { openCellScene } from '../cells/open-cell-scene.ts';
import { joinFindings } from '../join-findings.ts';
import { countOutcomes } from '../measure-attempts.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { spend } from '../wait-until.ts';

type Sizes = { perSecond: number; moves: number; betweenMs: number };

const FULL: Sizes = { perSecond: 200, moves: 10, betweenMs: 3_000 };
const CI: Sizes = { perSecond: 50, moves: 4, betweenMs: 1_000 };

/** A source moves between two cells again and again, under load. Nothing is lost or refused, and duplicates are counted. */
export async function moveCell(run: FaultRun): Promise<Findings> {
  const { perSecond, moves, betweenMs } = run.isFull ? FULL : CI;
  await using scene = await openCellScene(run);
  const { main: moving, eu: other } = scene.sources;
  const loads = [moving.start(perSecond), other.start(perSecond)];
  const quiet = await spend(betweenMs * 3);
  const from = performance.now();
  const refused: string[] = [];
  for (let move = 1; move <= moves; move += 1) {
    const cell = move % 2 === 1 ? 'eu' : 'main';
    const { status } = await scene.control.ask('PATCH', `/api/v1/sources/${moving.id}`, { cell });
    if (status !== 200) refused.push(`move ${move} to ${cell} was answered ${status}`);
    await spend(betweenMs);
  }
  const during = { from, to: performance.now() };
  await Promise.all(loads.map((load) => load.stop()));
  const answers = countOutcomes(moving.sent);
  const others = moving.sent.filter(({ outcome }) => outcome !== 200).length;
  const failures = [
    ...refused,
    ...(others === 0 ? [] : [`${others} calls of the moving source were not answered 200`]),
  ];
  const unharmed = { spans: { quiet, during }, bound: boundFor(run.isFull), name: 'other' };
  const arrived = await judgeArrivals(scene, [moving, other]);
  return joinFindings({ failures, figures: { moves, answers } }, judgeUnharmed(other, scene, unharmed), arrived);
}
