/** The pages of one destination, as a strip of links below its sentence. */
import { Link } from '@tanstack/react-router';
import { count } from '../format/numbers.ts';

const TABS = [
  { key: 'overview', name: 'Overview', to: '/destinations/$id' },
  { key: 'deliveries', name: 'Deliveries', to: '/destinations/$id/deliveries' },
  { key: 'dead-letters', name: 'Dead letters', to: '/dead-letters' },
  { key: 'try', name: 'Test and check-up', to: '/destinations/$id/try' },
  { key: 'settings', name: 'Settings', to: '/destinations/$id/settings' },
] as const;

export type DestinationTab = (typeof TABS)[number]['key'];

type DestinationTabsProps = { id: string; current: DestinationTab; deadLetters?: number | undefined };

export function DestinationTabs({ id, current, deadLetters = 0 }: DestinationTabsProps) {
  return (
    <nav className="tabs" aria-label="Destination">
      {TABS.map(({ key, name, to }) => {
        const place = to === '/dead-letters' ? { to, search: { destinationId: id } } : { to, params: { id } };
        return (
          <Link key={key} {...place} aria-current={key === current ? 'page' : undefined} activeOptions={EXACT}>
            {name}
            {key === 'dead-letters' && deadLetters > 0 && <span className="n">{count(deadLetters)}</span>}
          </Link>
        );
      })}
    </nav>
  );
}

/** The router would mark the overview as current on all pages below it. */
const EXACT = { exact: true };
