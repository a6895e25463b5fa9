import { count, counted } from '../../format/numbers.ts';
import { Card } from '../../parts/card.tsx';
import { Row, RowTable } from '../../parts/lists/row-table.tsx';
import { StateText } from '../../parts/state-mark.tsx';
import { type Deletion, erasedCount, STORES } from '../../parts/job/receipt.ts';

const COLUMNS = [
  { name: 'Store' },
  { name: 'Found', isNumber: true },
  { name: 'State' },
  { name: 'Effect', isWide: true },
];

/** Millrace's own stores, and those that it does not erase. */
export function StoreTable({ deletion }: { deletion: Deletion }) {
  const { erased } = deletion.receipt;
  return (
    <Card title="Stores of Millrace" aside={`${counted(erasedCount(deletion), 'entry', 'entries')} erased`}>
      <RowTable label="Stores" columns={COLUMNS}>
        {STORES.map(({ name, label, effect }) => {
          const found = erased[name];
          return (
            <Row key={name}>
              <td className="nowrap">
                {label} <code className="dim">{name}</code>
              </td>
              <td className="num">{found === undefined ? '–' : count(found)}</td>
              <td>
                {found === undefined ? (
                  <StateText state="waiting">Not searched yet</StateText>
                ) : (
                  <StateText state="delivered">Erased</StateText>
                )}
              </td>
              <td className="m-hide soft">{effect}</td>
            </Row>
          );
        })}
        <Row>
          <td>Event streams</td>
          <td className="num">–</td>
          <td>
            <StateText state="skipped">Expires</StateText>
          </td>
          <td className="m-hide soft">
            not erased: a stored request holds events of others, too. Millrace never sends or shows the user’s events
            again, and they expire (72 hours unless the operator sets another time)
          </td>
        </Row>
        <Row>
          <td className="nowrap">Backups, your own logs</td>
          <td className="num">–</td>
          <td>
            <StateText state="skipped">Yours</StateText>
          </td>
          <td className="m-hide soft">yours to erase</td>
        </Row>
      </RowTable>
    </Card>
  );
}
