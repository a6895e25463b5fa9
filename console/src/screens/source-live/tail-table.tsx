/** The rows of the tail as a table of which only the visible part is in the page. Heights are fixed, so nothing is measured. */
import { useMediaQuery } from '@mantine/hooks';
import { useVirtualizer } from '@tanstack/react-virtual';
import type { RefObject } from 'react';
import styles from './source-live.module.css';
import { CallCells, LeftOutCells } from './tail-cells.tsx';
import { showId, type TailRow } from '../../parts/tail/tail-rows.ts';

const WIDE = { accepted: 33, refused: 52, 'left-out': 29 };
const NARROW = { accepted: 54, refused: 72, 'left-out': 44 };
const COLUMNS = ['Received', 'Type', 'Event, page or refusal', 'User', 'Size', 'Deliveries'];

type TailTableProps = {
  rows: readonly TailRow[];
  chosen: string | undefined;
  scroller: RefObject<HTMLDivElement | null>;
  choose(show: string): void;
  /** The pointer or the focus rests on the list. */
  rest(isResting: boolean): void;
  scrolled(isScrolled: boolean): void;
};

export function TailTable({ rows, chosen, scroller, choose, rest, scrolled }: TailTableProps) {
  const heights = useMediaQuery('(max-width: 760px)') ? NARROW : WIDE;
  // oxlint-disable-next-line react/incompatible-library -- this build has no compiler that memoizes
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (place) => heights[rows[place]?.kind ?? 'accepted'],
    getItemKey: (place) => rows[place]?.key ?? place,
    overscan: 6,
    useFlushSync: false,
  });
  const items = virtual.getVirtualItems();
  const above = items[0]?.start ?? 0;
  const below = virtual.getTotalSize() - (items.at(-1)?.end ?? 0);
  return (
    <div
      ref={scroller}
      className={styles.scroller}
      onPointerEnter={({ pointerType }) => pointerType === 'mouse' && rest(true)}
      onPointerLeave={() => rest(false)}
      onFocus={({ target }) => target.matches(':focus-visible') && rest(true)}
      onBlur={() => rest(false)}
      onScroll={({ currentTarget }) => scrolled(currentTarget.scrollTop > 0)}
    >
      <table className={styles.table} aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {COLUMNS.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer height={above} />
          {items.map(({ index, key, size }) => {
            const row = rows[index];
            if (row === undefined) return null;
            if (row.kind === 'left-out') return <LeftOutCells key={key} row={row} height={size} place={index} />;
            const isChosen = chosen === showId(row);
            return (
              <CallCells
                key={key}
                row={row}
                outcomes={row.outcomes}
                height={size}
                place={index}
                isChosen={isChosen}
                choose={choose}
              />
            );
          })}
          <Spacer height={below} />
        </tbody>
      </table>
    </div>
  );
}

function Spacer({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    <tr className={styles.spacer} aria-hidden="true" style={{ height }}>
      <td colSpan={COLUMNS.length}>{'\u00a0'}</td>
    </tr>
  );
}
