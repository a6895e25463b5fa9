import type { DeliveryMetrics, Lane } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import type { Static } from 'typebox';
import { reading } from '../../api/queries.ts';
import { useSteadyRange } from '../../parts/steady-range.ts';
import { Card } from '../../parts/card.tsx';
import { useOutcomeChart } from '../../parts/chart/outcome-chart.tsx';
import type { Flag } from '../../parts/chart/time-series.tsx';
import { ListStates } from '../../parts/list-states.tsx';
import { clock } from '../../format/times.ts';

type Metrics = Static<typeof DeliveryMetrics>;
const WORDS: Partial<Record<Lane['state'], string>> = {
  failing: 'failing',
  paused: 'paused',
  draining: 'recovering',
  asked_to_wait: 'asked to wait',
};

export function OutcomeCard({ destinationId, lane }: { destinationId: string; lane: Lane | null }) {
  const { from, to, step, words } = useSteadyRange();
  const read = useQuery(
    reading<Metrics>('/metrics/deliveries', { query: { destinationId, from, step }, every: 15_000 }),
  );
  const data = read.data;
  const { legend, chart } = useOutcomeChart({
    points: data?.series ?? [],
    from: data?.from ?? from,
    to: data?.to ?? to,
    step: data?.step ?? step,
    flags: flagsOf(lane),
  });
  return (
    <Card title={`Outcomes, ${words}`} isOpen right={legend}>
      <ListStates
        read={read}
        failed="The outcomes cannot be shown."
        isEmpty={(data?.series ?? []).length === 0}
        empty={<p className="pad dim">No delivery ended in this time.</p>}
      >
        {chart}
      </ListStates>
    </Card>
  );
}

function flagsOf(lane: Lane | null): readonly Flag[] {
  const words = lane === null ? undefined : WORDS[lane.state];
  if (lane === null || words === undefined) return [];
  return [{ at: Date.parse(lane.since) / 1_000, words: `${clock(lane.since).slice(0, 5)} ${words}` }];
}
