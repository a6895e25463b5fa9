import { type RefObject, useEffect } from 'react';
import { isSingleKey } from '../single-keys.ts';

/** `j` and `k` move the focus to the last button or link of the next or previous row. */
export function useRowKeys(table: RefObject<HTMLTableElement | null>): void {
  useEffect(() => {
    function pressed(event: KeyboardEvent): void {
      const step = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0;
      if (step === 0 || !isSingleKey(event) || isInLayer(event)) return;
      const rows = [...(table.current?.tBodies[0]?.rows ?? [])];
      const at = rows.findIndex((row) => row.contains(document.activeElement));
      const row = rows[at === -1 ? 0 : Math.min(Math.max(at + step, 0), rows.length - 1)];
      [...(row?.querySelectorAll<HTMLElement>('a, button') ?? [])].at(-1)?.focus();
    }
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, [table]);
}

function isInLayer({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && target.closest('[role="dialog"]') !== null;
}
