/** The icons of the console: 16 pixels, drawn with lines, without a meaning of their own. Shapes of states are in state-mark.tsx. */
import type { ReactNode } from 'react';

const DRAWINGS = {
  aud: (
    <>
      <circle cx="6" cy="6" r="2.5" />
      <path d="M1.5 13.5c.4-2.6 2.2-4 4.5-4s4.1 1.4 4.5 4M10.5 3.7a2.5 2.5 0 0 1 0 4.6M12.3 10c1.2.6 2 1.8 2.2 3.5" />
    </>
  ),
  burger: (
    <>
      <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />
    </>
  ),
  check: (
    <>
      <path d="m3.5 8.5 3 3 6-7" />
    </>
  ),
  copy: (
    <>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
      <path d="M10.5 5.5V4A1.5 1.5 0 0 0 9 2.5H4A1.5 1.5 0 0 0 2.5 4v5A1.5 1.5 0 0 0 4 10.5h1.5" />
    </>
  ),
  dead: (
    <>
      <path d="M2.5 9.5 4 3h8l1.5 6.5v3.5h-11zM2.5 9.5H6l1 1.5h2l1-1.5h3.5" />
    </>
  ),
  delivery: (
    <>
      <path d="M2 5.5h9l3 3v2.5H2zM5 13.5h.01M11 13.5h.01" />
    </>
  ),
  dest: (
    <>
      <path d="M3 3v10M6 8h8M11 5l3 3-3 3" />
    </>
  ),
  down: (
    <>
      <path d="m4.5 6.5 3.5 3.5 3.5-3.5" />
    </>
  ),
  drag: (
    <>
      <path d="M6 4h.01M10 4h.01M6 8h.01M10 8h.01M6 12h.01M10 12h.01" stroke-width="2" />
    </>
  ),
  event: (
    <>
      <path d="M3 4h10M3 8h10M3 12h6" />
    </>
  ),
  home: (
    <>
      <path d="M2.5 7 8 2.5 13.5 7v6.5h-4v-4h-3v4h-4z" />
    </>
  ),
  key: (
    <>
      <circle cx="5.2" cy="10.8" r="2.7" />
      <path d="m7.2 8.8 6-6M11 5l2 2" />
    </>
  ),
  link: (
    <>
      <path d="M6.5 9.5 9.5 6.5M7.3 4.7l1.2-1.2a2.8 2.8 0 0 1 4 4l-1.2 1.2M8.7 11.3l-1.2 1.2a2.8 2.8 0 0 1-4-4l1.2-1.2" />
    </>
  ),
  lock: (
    <>
      <rect x="3" y="7" width="10" height="6.5" rx="1.5" />
      <path d="M5.5 7V5a2.5 2.5 0 0 1 5 0v2" />
    </>
  ),
  pauseb: (
    <>
      <path d="M5.5 3.5v9M10.5 3.5v9" stroke-width="2" />
    </>
  ),
  plus: (
    <>
      <path d="M8 3v10M3 8h10" />
    </>
  ),
  replay: (
    <>
      <path d="M3 8a5 5 0 1 0 1.6-3.7M3 2.5v3h3" />
    </>
  ),
  search: (
    <>
      <circle cx="7" cy="7" r="4.3" />
      <path d="m10.3 10.3 3.2 3.2" />
    </>
  ),
  send: (
    <>
      <path d="M13.5 2.5 2.5 7l4.5 2 2 4.5z" />
    </>
  ),
  source: (
    <>
      <path d="M2 8h8M7 5l3 3-3 3M13 3v10" />
    </>
  ),
  sun: (
    <>
      <circle cx="8" cy="8" r="2.7" />
      <path d="M8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9" />
    </>
  ),
  system: (
    <>
      <rect x="2.5" y="3" width="11" height="4" rx="1" />
      <rect x="2.5" y="9" width="11" height="4" rx="1" />
      <path d="M5 5h.01M5 11h.01" />
    </>
  ),
  team: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M8 5v3.5l2 1.2" />
    </>
  ),
  term: (
    <>
      <path d="m3 5 3 3-3 3M8.5 11.5H13" />
    </>
  ),
  usage: (
    <>
      <path d="M3 13V8M8 13V3M13 13V6" />
    </>
  ),
  user: (
    <>
      <circle cx="8" cy="5.5" r="2.7" />
      <path d="M2.8 13.5c.5-2.9 2.6-4.3 5.2-4.3s4.7 1.4 5.2 4.3" />
    </>
  ),
  x: (
    <>
      <path d="m4 4 8 8M12 4l-8 8" />
    </>
  ),
} satisfies Record<string, ReactNode>;

export type IconName = keyof typeof DRAWINGS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="i" viewBox="0 0 16 16" aria-hidden="true">
      {DRAWINGS[name]}
    </svg>
  );
}
