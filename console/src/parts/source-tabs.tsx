/** The pages of one source, as a strip of links below its sentence. */
import { Link } from '@tanstack/react-router';
import { count } from '../format/numbers.ts';

const TABS = [
  { key: 'live', name: 'Live', to: '/sources/$id' },
  { key: 'schema', name: 'Schema', to: '/sources/$id/schema' },
  { key: 'settings', name: 'Settings', to: '/sources/$id/settings' },
] as const;

export type SourceTab = (typeof TABS)[number]['key'];

type SourceTabsProps = { id: string; current: SourceTab; names?: number | undefined };

export function SourceTabs({ id, current, names }: SourceTabsProps) {
  return (
    <nav className="tabs" aria-label="Source">
      {TABS.map(({ key, name, to }) => (
        <Link
          key={key}
          to={to}
          params={{ id }}
          aria-current={key === current ? 'page' : undefined}
          activeOptions={EXACT}
        >
          {name}
          {key === 'schema' && names !== undefined && <span className="n">{count(names)}</span>}
        </Link>
      ))}
    </nav>
  );
}

/** The router would mark Live as current on all pages below it. */
const EXACT = { exact: true };
