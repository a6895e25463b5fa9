/** `j` and `k` go down and up the list, `Enter` opens the chosen row beside it, `o` opens its page. */
import type { Delivery } from '@millrace/contract/control';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useSearchChange } from '../use-search-change.ts';
import { isSingleKey } from '../single-keys.ts';
import { neighbour } from './delivery-search.ts';

const STEPS: Readonly<Record<string, 1 | -1>> = { j: 1, k: -1 };

export function useRowKeys(items: readonly Delivery[], show: string | undefined): void {
  const navigate = useNavigate();
  const change = useSearchChange();
  const chosen = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (show !== undefined) chosen.current = show;
    function pressed(event: KeyboardEvent): void {
      if (!isSingleKey(event)) return;
      const step = STEPS[event.key];
      if (step !== undefined) {
        chosen.current = neighbour(items, chosen.current, step)?.id;
        if (show === undefined) mark(chosen.current);
        else change({ show: chosen.current }, { replace: true });
      } else if (event.key === 'o' && chosen.current !== undefined) {
        void navigate({ to: '/deliveries/$id', params: { id: chosen.current } });
      } else if (event.key === 'Enter' && chosen.current !== undefined && !isControl(event)) {
        change({ show: chosen.current });
      }
    }
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, [items, show, change, navigate]);
}

/** Marks the chosen row and scrolls it into view. */
function mark(id: string | undefined): void {
  if (id === undefined) return;
  const row = document.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"]`);
  for (const other of document.querySelectorAll('tr[data-chosen]')) other.removeAttribute('data-chosen');
  row?.setAttribute('data-chosen', 'yes');
  row?.scrollIntoView({ block: 'nearest' });
}

function isControl({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement && target.closest('a, button') !== null;
}
