import type { DestinationHealth, DestinationMetrics } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { reading } from '../../api/queries.ts';
import { count, milliseconds } from '../../format/numbers.ts';
import { Card } from '../../parts/card.tsx';
import { TimeSeries } from '../../parts/chart/time-series.tsx';
import { ListStates } from '../../parts/list-states.tsx';
import { useSteadyRange } from '../../parts/steady-range.ts';
import styles from './destination.module.css';
import { everyStep, fineStep } from './series.ts';

/** A percentile is not a state: the lines are ink, and their dashes tell them apart. */
const LINES = [
  { key: 'p50', dash: [], width: 2 },
  { key: 'p95', dash: [5, 3], width: 1.5 },
  { key: 'p99', dash: [1.5, 3], width: 1.5 },
] as const;

type LatencyCardProps = { destinationId: string; health: DestinationHealth | undefined };

export function LatencyCard({ destinationId, health }: LatencyCardProps) {
  const { from, words } = useSteadyRange();
  const step = fineStep(from);
  const read = useQuery(
    reading<DestinationMetrics>(`/destinations/${destinationId}/metrics`, { query: { from, step }, every: 15_000 }),
  );
  const data = read.data;
  const latency = data?.latency ?? [];
  const plots = data === undefined ? [] : LINES.map(({ key }) => everyStep(data, latency, (point) => point[key], null));
  return (
    <Card title={`Latency, ${words}`} isOpen>
      <ListStates
        read={read}
        failed="The latency cannot be shown."
        isEmpty={latency.length === 0}
        empty={<p className="pad dim">No attempt was made in this time.</p>}
      >
        <div className="chart">
          <TimeSeries
            label="Latency of attempts: 50th, 95th and 99th percentile"
            times={plots[0]?.times ?? []}
            series={LINES.map(({ key, dash, width }, place) => ({
              name: key,
              color: '--text',
              kind: 'line' as const,
              dash,
              width,
              values: plots[place]?.values ?? [],
            }))}
            height={96}
            write={milliseconds}
          />
        </div>
        {health !== undefined && <Percentiles latency={health.latencyMs} />}
      </ListStates>
    </Card>
  );
}

function Percentiles({ latency }: { latency: DestinationHealth['latencyMs'] }) {
  return (
    <p className={`small dim ${styles['percentiles']}`}>
      {LINES.map(({ key, dash, width }) => {
        const value = latency[key];
        return (
          <span key={key}>
            <svg width="18" height="8" aria-hidden="true">
              <line
                x1="0"
                x2="18"
                y1="4"
                y2="4"
                stroke="currentColor"
                strokeWidth={width}
                strokeDasharray={dash.join(' ')}
              />
            </svg>{' '}
            {key} {value === null ? '–' : milliseconds(value)}
          </span>
        );
      })}
      <span>of the latest {count(latency.attempts)} attempts</span>
    </p>
  );
}
