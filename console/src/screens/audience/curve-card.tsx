import type { Definition, SizeCurve } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { reading } from '../../api/queries.ts';
import { count, short } from '../../format/numbers.ts';
import { Card } from '../../parts/card.tsx';
import { TimeSeries } from '../../parts/chart/time-series.tsx';
import { ListStates } from '../../parts/list-states.tsx';
import { useRange } from '../../parts/range-switch.tsx';
import { everyStep } from './curve.ts';

/** There is no half user: an axis leaves such a label out. */
function wholeOnly(value: number): string {
  return Number.isInteger(value) ? short(value) : '';
}

/** The size over time. */
export function CurveCard({ definition }: { definition: Definition }) {
  const { name: range, words } = useRange();
  const read = useQuery(reading<SizeCurve>(`/definitions/${definition.id}/curve`, { query: { range }, every: 10_000 }));
  const { times, values } = read.data === undefined ? { times: [], values: [] } : everyStep(read.data, definition.size);
  const isAudience = definition.kind === 'audience';
  return (
    <Card
      title={isAudience ? 'Users in it' : 'Users with a value'}
      aside={words}
      right={<b>{count(definition.size)}</b>}
      isOpen
    >
      <ListStates read={read} failed="The curve cannot be shown." isEmpty={false} empty={undefined}>
        <div className="chart">
          <TimeSeries
            label={`Size, ${words}`}
            times={times}
            series={[
              { name: isAudience ? 'users' : 'users with a value', color: '--text', kind: 'line', values, width: 2 },
            ]}
            height={130}
            write={wholeOnly}
          />
        </div>
        {values.filter((value) => value !== null).length < 2 && (
          <p className="small dim pad">The curve begins now: it has one point for each step of the chosen time.</p>
        )}
      </ListStates>
    </Card>
  );
}
