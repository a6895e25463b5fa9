/** Single keys and `g` followed by a letter. The console ignores them while a person types; the profile switches them off. */
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { isSingleKey } from '../parts/single-keys.ts';

export const PLACES = {
  h: { to: '/', name: 'Home' },
  s: { to: '/sources', name: 'Sources' },
  e: { to: '/events', name: 'Events' },
  d: { to: '/destinations', name: 'Destinations' },
  l: { to: '/deliveries', name: 'Deliveries' },
  x: { to: '/dead-letters', name: 'Dead letters' },
  a: { to: '/audiences', name: 'Audiences' },
  p: { to: '/profiles', name: 'Profiles' },
} as const;

const TOGETHER_MS = 1_200;

type Shortcuts = { openPalette(): void; openKeys(): void };

export function useShortcuts({ openPalette, openKeys }: Shortcuts): void {
  const navigate = useNavigate();
  useEffect(() => {
    let goAt = 0;
    function pressed(event: KeyboardEvent): void {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        openPalette();
        return;
      }
      if (!isSingleKey(event)) return;
      const isSecond = event.timeStamp - goAt < TOGETHER_MS;
      goAt = event.key === 'g' ? event.timeStamp : 0;
      if (isSecond && event.key in PLACES) void navigate({ to: PLACES[event.key as keyof typeof PLACES].to });
      else if (event.key === '?') openKeys();
      else if (event.key === '/') focusFilter(event, openPalette);
    }
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, [navigate, openPalette, openKeys]);
}

/** `/` goes to the filter of the page, or opens the palette where there is none. */
function focusFilter(event: KeyboardEvent, openPalette: () => void): void {
  event.preventDefault();
  const filter = document.querySelector<HTMLInputElement>('[data-filter]');
  if (filter === null) openPalette();
  else filter.focus();
}
