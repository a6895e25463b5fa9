import type { SuppressedCalls } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { count } from '../../format/numbers.ts';
import { day } from '../../format/times.ts';
import { Card } from '../../parts/card.tsx';
import { Empty, ListStates } from '../../parts/list-states.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { monthWords } from './months.ts';

type Read = {
  isPending: boolean;
  error: Error | null;
  data: Static<typeof SuppressedCalls> | undefined;
  refetch(): unknown;
};

type SuppressedCardProps = { read: Read; month: string; names: ReadonlyMap<string, string> };

export function SuppressedCard({ read, month, names }: SuppressedCardProps) {
  const items = read.data?.month === month ? read.data.items : [];
  const days = items.toSorted((one, other) => other.day.localeCompare(one.day) || other.calls - one.calls);
  return (
    <Card title="Dropped calls of suppressed users" aside={count(items.reduce((sum, { calls }) => sum + calls, 0))}>
      <ListStates
        read={read}
        failed="The dropped calls cannot be shown."
        isEmpty={items.length === 0}
        empty={
          <Empty title={`None in ${monthWords(month)}`}>
            When you erase a user and suppress them, collect drops their further calls. It counts them here by day and
            source, and records no user.
          </Empty>
        }
      >
        <table className="folds">
          <thead>
            <tr>
              <th>Day (UTC)</th>
              <th>Source</th>
              <th className="num">Dropped calls</th>
            </tr>
          </thead>
          <tbody>
            {days.map(({ day: date, sourceId, calls }) => (
              <tr key={`${date} ${sourceId}`}>
                <td className="nowrap">{day(`${date}T12:00:00`)}</td>
                <td>
                  <OuterText text={names.get(sourceId) ?? sourceId} />
                </td>
                <td className="num" data-label="Dropped">
                  {count(calls)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ListStates>
    </Card>
  );
}
