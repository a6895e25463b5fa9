import { useMay } from '../../api/session.tsx';
import { count } from '../../format/numbers.ts';
import { cutText, visible } from '../../format/texts.ts';
import { Button } from '../../parts/button.tsx';
import { StateText } from '../../parts/state-mark.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { keyOf, type SchemaItem } from './schema-rows.ts';
import styles from './source-schema.module.css';

type SchemaTableProps = {
  rows: readonly SchemaItem[];
  chosen: string | undefined;
  choose(key: string): void;
  block(change: { name: string; blocked: boolean }): void;
  /** The name whose change is under way. */
  busyWith: string | undefined;
};

export function SchemaTable({ rows, chosen, ...rest }: SchemaTableProps) {
  return (
    <div className="tablewrap">
      <table className={`folds ${styles.table}`}>
        <thead>
          <tr>
            <th>Event, page or call</th>
            <th>Type</th>
            <th className="num">Events</th>
            <th>Last seen</th>
            <th className="num">Properties</th>
            <th>State</th>
            <th>
              <span className="sr">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={keyOf(row)} row={row} isChosen={keyOf(row) === chosen} {...rest} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

type RowProps = Omit<SchemaTableProps, 'rows' | 'chosen'> & { row: SchemaItem; isChosen: boolean };

function Row({ row, isChosen, choose, block, busyWith }: RowProps) {
  const { type, name, count: events, lastSeenAt, properties, hasMore, blocked } = row;
  const mayWrite = useMay('sources:write');
  return (
    <tr className={`${styles.row} ${isChosen ? 'sel' : ''}`}>
      <td>
        <button type="button" className={styles.open} onClick={() => choose(keyOf(row))}>
          {name === null ? <span className="soft">all {type} calls</span> : <OuterText text={name} most={80} />}
        </button>
        <span className="sub m-hide">{pathsOf(row)}</span>
      </td>
      <td>
        <span className="tag">{type}</span>
      </td>
      <td className="num" data-label="events">
        {events === 0 ? <span className="dim">seen earlier</span> : count(events)}
      </td>
      <td data-label="last seen">
        {lastSeenAt === null ? <span className="dim">–</span> : <TimeText at={lastSeenAt} withDistance />}
      </td>
      <td className="num m-hide">
        {properties.length}
        {hasMore && '+'}
      </td>
      <td className={blocked ? undefined : 'm-hide'}>
        {blocked ? <StateText state="skipped">Blocked</StateText> : <span className="dim">allowed</span>}
      </td>
      <td className={styles.act}>
        {type === 'track' && name !== null && mayWrite && (
          <Button small isBusy={busyWith === name} onClick={() => block({ name, blocked: !blocked })}>
            {blocked ? 'Unblock' : 'Block'}
          </Button>
        )}
      </td>
    </tr>
  );
}

const MOST_PATHS = 5;

function pathsOf({ properties }: SchemaItem): string {
  const paths = properties.slice(0, MOST_PATHS).map(({ path }) => cutText(visible(path), 24));
  return properties.length > MOST_PATHS ? `${paths.join(', ')}, …` : paths.join(', ');
}
