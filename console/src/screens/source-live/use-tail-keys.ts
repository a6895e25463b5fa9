/** Keys of the live tail: Space holds or goes on, j and k go from row to row. */
import { useEffect } from 'react';
import { isSingleKey } from '../../parts/single-keys.ts';

type TailKeys = { pause(): void };

export function useTailKeys({ pause }: TailKeys): void {
  useEffect(() => {
    function pressed(event: KeyboardEvent): void {
      if (!isSingleKey(event) || !isFree(event.target)) return;
      if (event.key === ' ') {
        // Space on a button presses it.
        if (event.target instanceof HTMLButtonElement && event.target.dataset['row'] === undefined) return;
        event.preventDefault();
        pause();
      } else if (event.key === 'j' || event.key === 'k') focusRow(event.key === 'j' ? 1 : -1);
    }
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, [pause]);
}

function isFree(target: EventTarget | null): boolean {
  return (
    !(target instanceof HTMLElement) ||
    !target.matches('input, textarea, select, a, [role="dialog"] *, [role="option"]')
  );
}

function focusRow(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const at = rows.findIndex((row) => row === document.activeElement);
  rows[at < 0 ? 0 : at + step]?.focus();
}
