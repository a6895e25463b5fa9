import type { DeliveryAttempt, DeliveryDetails, Lane } from '@millrace/contract/control';
import { clock, duration } from '../../format/times.ts';
import { Card } from '../../parts/card.tsx';
import { Ruler, type RulerPoint } from '../../parts/ruler.tsx';
import type { StateName } from '../../parts/state-mark.tsx';
import { useNow } from '../../parts/use-now.ts';
import styles from './delivery.module.css';
import { latestRun, planAttempts, windowOf, type Window } from '../../parts/delivery/plan-attempts.ts';
import { nextAttemptAt } from '../../parts/delivery/tell-delivery.ts';

/** The attempts made and those to come, over the four hours. */
export function RulerCard({ delivery, lane }: { delivery: DeliveryDetails; lane: Lane | null }) {
  const now = useNow(10_000);
  const window = windowOf(delivery);
  if (window === undefined) return null;
  const run = latestRun(delivery);
  const isOver = delivery.state !== 'pending' && delivery.state !== 'retrying';
  if (isOver && run.length < 2) return null;
  const next = isOver || lane?.state === 'paused' ? undefined : nextAttemptAt(delivery, lane);
  const planned = next === undefined ? [] : planAttempts(run.length, Math.max(next, now), window.endsAt);
  const points: RulerPoint[] = [
    ...run.map((attempt, place) => made(attempt, place, window)),
    ...planned.map(({ attempt, at }, place) => plannedPoint(attempt, at, place === 0)),
  ];
  return (
    <div className="mt">
      <Card
        title="Attempts over the 4 hours"
        aside={<span className="wide">logarithmic: the first minutes are wide, the last hours narrow</span>}
        isOpen
      >
        <div className={styles['ruler']}>
          <Ruler points={points} firstAt={window.firstAt} endsAt={window.endsAt} isOver={isOver} />
        </div>
      </Card>
    </div>
  );
}

/** Only the next one has a label: the others are about there. */
function plannedPoint(attempt: number, at: number, isNext: boolean): RulerPoint {
  return isNext
    ? { at, state: 'planned', label: String(attempt), detail: clock(at) }
    : { at, state: 'planned', label: '' };
}

const OUTCOMES: Readonly<Record<string, StateName>> = { delivered: 'delivered', retry: 'retrying' };

function made({ at, outcome }: DeliveryAttempt, place: number, { firstAt }: Window): RulerPoint {
  const since = Date.parse(at) - firstAt;
  return {
    at: Date.parse(at),
    state: OUTCOMES[outcome] ?? 'givenup',
    label: String(place + 1),
    detail: place === 0 ? 'first' : duration(since),
  };
}
