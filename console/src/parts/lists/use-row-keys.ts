import { type RefObject, useEffect } from 'react';
import { SHORTCUTS_OFF } from '../single-keys.ts';

/** `j` and `k` move the focus to the last button or link of the next or previous row. */
export function useRowKeys(table: RefObject<HTMLTableElement | null>): void {
  useEffect(() => {
    function pressed(event: KeyboardEvent): void {
      const step = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0;
      if (step === 0 || event.metaKey || event.ctrlKey || event.altKey || isElsewhere(event)) return;
      const rows = [...(table.current?.tBodies[0]?.rows ?? [])];
      const at = rows.findIndex((row) => row.contains(document.activeElement));
      const row = rows[at === -1 ? 0 : Math.min(Math.max(at + step, 0), rows.length - 1)];
      [...(row?.querySelectorAll<HTMLElement>('a, button') ?? [])].at(-1)?.focus();
    }
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, [table]);
}

/** While a person types, while a layer is open, and when the profile switches single keys off. */
function isElsewhere({ target }: KeyboardEvent): boolean {
  if (localStorage.getItem(SHORTCUTS_OFF) === 'yes') return true;
  return target instanceof HTMLElement && target.closest('input, textarea, select, [role="dialog"]') !== null;
}
