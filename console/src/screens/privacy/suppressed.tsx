/** Suppressed users: Millrace drops their calls, and knows them by a hash only. */
import type { Source, SuppressedCalls } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import type { Static } from 'typebox';
import { reading } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { count } from '../../format/numbers.ts';
import { Card } from '../../parts/card.tsx';
import { Empty, ListStates } from '../../parts/list-states.tsx';
import { Row, RowTable } from '../../parts/lists/row-table.tsx';
import { OuterText } from '../../parts/texts.tsx';
import type { Deletion } from '../../parts/job/receipt.ts';
import { LiftSuppression } from './lift-suppression.tsx';
import { RequestRows } from './request-rows.tsx';

type Calls = Static<typeof SuppressedCalls>;
type SuppressedProps = { requests: readonly Deletion[]; sources: readonly Source[] };

export function Suppressed({ requests, sources }: SuppressedProps) {
  const mayLift = useMay('deletions:write');
  const read = useQuery(reading<Calls>('/suppressions/calls', { every: 15_000 }));
  const items = read.data?.items ?? [];
  const suppressing = requests.filter(({ suppress }) => suppress);
  return (
    <div className="stack">
      {mayLift && <LiftSuppression requests={requests} />}
      <Card title="Requests that suppress" aside="a suppression may have been lifted since: the audit log has it">
        {suppressing.length === 0 ? (
          <Empty title="No user is suppressed">
            A deletion request can also suppress its users. Millrace then drops their later calls: it answers 200 like
            always, counts them, and stores nothing.
          </Empty>
        ) : (
          <RequestRows requests={suppressing} sources={sources} />
        )}
      </Card>
      <Card
        title="Calls that Millrace dropped"
        aside={read.data === undefined ? '' : `in ${read.data.month}, by source and day`}
      >
        <ListStates
          read={read}
          failed="The dropped calls cannot be shown."
          isEmpty={items.length === 0}
          empty={<Empty title="None this month">No suppressed user has sent a call.</Empty>}
        >
          <RowTable
            label="Dropped calls"
            columns={[{ name: 'Source' }, { name: 'Calls', isNumber: true }, { name: 'Day' }]}
          >
            {items.map(({ day, sourceId, calls }) => (
              <Row key={day + sourceId}>
                <td>
                  <OuterText text={sources.find(({ id }) => id === sourceId)?.name ?? sourceId} />
                </td>
                <td className="num">{count(calls)}</td>
                <td>{day}</td>
              </Row>
            ))}
          </RowTable>
        </ListStates>
      </Card>
    </div>
  );
}
