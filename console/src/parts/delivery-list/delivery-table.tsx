import type { Delivery } from '@millrace/contract/control';
import { useMediaQuery } from '@mantine/hooks';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useState } from 'react';
import { Button } from '../button.tsx';
import styles from './delivery-list.module.css';
import { DeliveryRow } from './delivery-row.tsx';

const ROW_PX = 37;
const NARROW_ROW_PX = 62;
/** The next page is read when so many rows are left below. */
const AHEAD = 80;
/** A reader this far down is not disturbed by new rows. */
const DEEP = 10;

type DeliveryTableProps = {
  items: readonly Delivery[];
  pages: { hasNextPage: boolean; isFetchingNextPage: boolean; error: unknown; fetchNextPage(): unknown };
  show: string | undefined;
  /** The names of destinations; undefined on the page of one. */
  names: ReadonlyMap<string, string> | undefined;
  setIsDeep(isDeep: boolean): void;
};

export function DeliveryTable({ items, pages, show, names, setIsDeep }: DeliveryTableProps) {
  const isNarrow = useMediaQuery('(max-width: 760px)') ?? false;
  const { body, rows, before, after, last, first } = useRows(items.length, isNarrow ? NARROW_ROW_PX : ROW_PX);
  const { hasNextPage, isFetchingNextPage, error, fetchNextPage } = pages;
  useEffect(() => setIsDeep(first > DEEP), [first, setIsDeep]);
  useEffect(() => {
    if (last > items.length - AHEAD && hasNextPage && !isFetchingNextPage && error === null) void fetchNextPage();
  }, [last, items.length, hasNextPage, isFetchingNextPage, error, fetchNextPage]);
  const columns = names === undefined ? 6 : 7;
  return (
    <>
      <table className={styles['table']} aria-rowcount={hasNextPage ? -1 : items.length + 1}>
        <thead>
          <tr>
            <th className={styles['when']}>Received</th>
            <th>Event</th>
            <th>User</th>
            {names !== undefined && <th>Destination</th>}
            <th className={styles['state']}>State</th>
            <th className={`num ${styles['attempts']}`}>Attempts</th>
            <th className={`num ${styles['when']}`}>Next attempt</th>
          </tr>
        </thead>
        <tbody ref={body}>
          <Space px={before} columns={columns} />
          {rows.map((place) => {
            const delivery = items[place];
            if (delivery === undefined) return null;
            return (
              <DeliveryRow
                key={delivery.id}
                delivery={delivery}
                place={place}
                isShown={delivery.id === show}
                {...(names === undefined
                  ? {}
                  : { destination: names.get(delivery.destinationId) ?? delivery.destinationId })}
              />
            );
          })}
          <Space px={after} columns={columns} />
        </tbody>
      </table>
      <p className={`small dim ${styles['end']}`} role="status">
        {hasNextPage ? (
          <Button small isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Older
          </Button>
        ) : (
          'No older delivery in this time range.'
        )}
      </p>
    </>
  );
}

function Space({ px, columns }: { px: number; columns: number }) {
  if (px <= 0) return null;
  return (
    <tr className={styles['space']} aria-hidden="true">
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- only room for rows that are not drawn */}
      <td colSpan={columns} style={{ height: px }} />
    </tr>
  );
}

/** The rows to draw, and the heights of those above and below. */
function useRows(count: number, rowPx: number) {
  const [top, setTop] = useState(0);
  const body = useCallback((element: HTMLElement | null) => {
    if (element !== null) setTop(element.getBoundingClientRect().top + window.scrollY);
  }, []);
  // oxlint-disable-next-line react/incompatible-library -- nothing of it is memoised or given away
  const virtual = useWindowVirtualizer({ count, estimateSize: () => rowPx, overscan: 20, scrollMargin: top });
  useEffect(() => virtual.measure(), [virtual, rowPx]);
  const shown = virtual.getVirtualItems();
  const first = shown[0];
  const last = shown.at(-1);
  return {
    body,
    rows: shown.map(({ index }) => index),
    before: first === undefined ? 0 : first.start - top,
    after: last === undefined ? 0 : virtual.getTotalSize() - (last.end - top),
    first: first?.index ?? 0,
    last: last?.index ?? 0,
  };
}
