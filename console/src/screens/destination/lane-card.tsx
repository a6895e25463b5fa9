/** The deliveries that wait: how many, since when, how fast they go, and what holds them up. */
import type { Destination, DestinationMetrics, Lane } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { reading } from '../../api/queries.ts';
import { count, percent, short } from '../../format/numbers.ts';
import { Card, Facts } from '../../parts/card.tsx';
import { TimeSeries } from '../../parts/chart/time-series.tsx';
import { useSteadyRange } from '../../parts/steady-range.ts';
import { TimeText } from '../../parts/texts.tsx';
import { numberSetting } from '../../parts/destination/health/destination-facts.ts';
import styles from './destination.module.css';
import { clearText, depthChange, everyStep, fineStep } from './series.ts';

export function LaneCard({ destination, lane }: { destination: Destination; lane: Lane | null }) {
  const { from, words } = useSteadyRange();
  const step = fineStep(from);
  const { data } = useQuery(
    reading<DestinationMetrics>(`/destinations/${destination.id}/metrics`, { query: { from, step }, every: 15_000 }),
  );
  const depth = data?.depth ?? [];
  const limit = numberSetting(destination, 'maxPerSecond');
  const clear = lane === null || destination.paused ? undefined : clearText(lane, limit);
  const change = lane === null || data === undefined ? '' : depthChange(depth, data);
  const isEmpty = lane === null && depth.length === 0;
  const plot = data === undefined ? undefined : everyStep(data, depth, ({ deliveries }) => deliveries, 0);
  return (
    <Card title="Lane" aside={isEmpty ? undefined : words} isOpen>
      <div className="figs">
        <div>
          <div className="v">{count(lane?.depth ?? 0)}</div>
          <div className="k">waiting{change}</div>
        </div>
        {clear !== undefined && lane !== null && (
          <div>
            <div className="v">{clear}</div>
            <div className="k">{lane.clearInMs === null ? 'to clear, once it answers' : 'to clear'}</div>
          </div>
        )}
      </div>
      {plot !== undefined && depth.length > 0 && (
        <div className="chart">
          <TimeSeries
            label="Deliveries that waited, at most, per step"
            times={plot.times}
            series={[{ name: 'Waiting', color: '--waiting-fill', kind: 'area', values: plot.values, width: 2 }]}
            height={64}
            write={short}
          />
        </div>
      )}
      <div className={`small ${styles['laneFacts']}`}>
        <Facts facts={factsOf(lane, limit, destination.paused)} />
      </div>
    </Card>
  );
}

/** An older server does not tell it. */
function isNumber(room: number | null | undefined): room is number {
  return typeof room === 'number';
}

function roomText(room: number): string {
  if (room === 0) return 'none: new deliveries become dead letters';
  return `${percent(1 - room)} % of the lane is used`;
}

function factsOf(lane: Lane | null, limit: number | undefined, isPaused: boolean) {
  const rate = lane?.deliveriesPerSecond ?? null;
  const facts: [string, React.ReactNode][] = limit === undefined ? [] : [['Rate limit', `${count(limit)} a second`]];
  if (rate !== null) facts.unshift(['Drains at', `${short(rate)} a second`]);
  if (lane === null) return [...facts, ['Breaker', 'closed: deliveries go out at once'] as const];
  if (isNumber(lane.room)) facts.push(['Room', roomText(lane.room)]);
  if (lane.state === 'failing') {
    facts.push([
      'Breaker',
      <span key="b">
        open since <TimeText at={lane.since} />: only probes are sent
      </span>,
    ]);
    if (lane.nextAt !== null) facts.push(['Next probe', <TimeText key="p" at={lane.nextAt} withDistance />]);
    return facts;
  }
  facts.push(['Breaker', 'closed']);
  if (lane.state === 'paused') facts.push(['Paused', <TimeText key="s" at={lane.since} withDistance />]);
  else if (lane.nextAt !== null && !isPaused)
    facts.push(['Next attempt', <TimeText key="n" at={lane.nextAt} withDistance />]);
  if (lane.state !== 'paused') facts.push(['Backlog since', <TimeText key="s" at={lane.since} withDistance />]);
  return facts;
}
