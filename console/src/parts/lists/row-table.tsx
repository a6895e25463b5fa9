/** A table of rows that open. Below 760 pixels each row becomes two lines: the cells flow two by two. */
import { type ReactNode, useRef } from 'react';
import css from './row-table.module.css';
import { useRowKeys } from './use-row-keys.ts';

export type Column = {
  name: string;
  isNumber?: boolean;
  /** The name is for screen readers only. */
  isHidden?: boolean;
  /** Left out below 760 pixels; its cells need `m-hide`, too. */
  isWide?: boolean;
};

/** `j` and `k` go from row to row; Enter then opens the row. */
export function RowTable({
  label,
  columns,
  children,
}: {
  label: string;
  columns: readonly Column[];
  children: ReactNode;
}) {
  const table = useRef<HTMLTableElement>(null);
  useRowKeys(table);
  return (
    <div className="tablewrap">
      <table ref={table} className={css.table} aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ name, isNumber, isHidden, isWide }) => (
              <th
                key={name}
                scope="col"
                className={`${isNumber === true ? 'num' : ''} ${isWide === true ? 'm-hide' : ''}`}
              >
                {isHidden === true ? <span className="sr">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

type RowProps = { open?: () => void; isSelected?: boolean; children: ReactNode };

/** A click anywhere opens the row; a link or button in it does what it says. The row needs a button for the keyboard. */
export function Row({ open, isSelected = false, children }: RowProps) {
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- a button in the row does the same
    <tr
      className={`${isSelected ? 'sel' : ''} ${open === undefined ? '' : css.opens}`}
      onClick={(event) => {
        const target = event.target as HTMLElement;
        if (target.closest('a, button, input, label') === null && String(getSelection()) === '') open?.();
      }}
    >
      {children}
    </tr>
  );
}
