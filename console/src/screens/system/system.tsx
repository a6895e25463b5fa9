import type { System } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { hasStatus, lookAgain } from '../../api/look-again.ts';
import { reading } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { clock } from '../../format/times.ts';
import { LoadingRows } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { Page } from '../../shell/page.tsx';
import { LimitsTab } from './limits-tab.tsx';
import { OperatorsTab } from './operators-tab.tsx';
import { QuarantineTab } from './quarantine-tab.tsx';
import { SettingsTab } from './settings-tab.tsx';
import { StorageTab } from './storage-tab.tsx';
import { WorkspacesTab } from './workspaces-tab.tsx';
import { tellSystem } from './tell-system.ts';

const LIVE_MS = 5_000;
const TABS = [
  { key: 'storage', name: 'Storage and processes' },
  { key: 'settings', name: 'Settings' },
  { key: 'limits', name: 'Limits' },
  { key: 'quarantine', name: 'Quarantine' },
  { key: 'workspaces', name: 'Workspaces' },
  { key: 'operators', name: 'Operators' },
] as const;

export function SystemScreen() {
  const may = useMay('system:read');
  const system = useQuery({
    ...reading<System>('/system', { enabled: may }),
    refetchInterval: lookAgain<System>(() => LIVE_MS),
  });
  const { data, error } = system;
  const isRefused = !may || hasStatus(error, 403);
  const live = data !== undefined && (
    <span className="dim small wide nowrap">
      {error === null ? 'Live' : 'Last read'}, {clock(data.at)}
    </span>
  );
  return (
    <Page title="System" right={live}>
      {isRefused ? (
        <Refused />
      ) : (
        <>
          {error !== null && (
            <ProblemNote
              error={error}
              what={data === undefined ? 'The system cannot be shown.' : 'This is what the last answer said.'}
              retry={() => void system.refetch()}
            />
          )}
          {data === undefined ? error === null && <LoadingRows rows={12} /> : <Shown system={data} />}
        </>
      )}
    </Page>
  );
}

function Refused() {
  return (
    <Sentence then="The system belongs to no workspace: its streams and its settings serve all of them. Ask an operator to make you one.">
      Only operators see the system.
    </Sentence>
  );
}

function Shown({ system }: { system: System }) {
  const { tab = 'storage' } = useSearch({ from: '/shell/system' });
  const { state, words, rest, lanes } = tellSystem(system);
  return (
    <>
      <Sentence state={{ name: state, words }} then={lanes}>
        {rest}
      </Sentence>
      <nav className="tabs" aria-label="System">
        {TABS.map(({ key, name }) => (
          <Link
            key={key}
            to="/system"
            search={key === 'storage' ? {} : { tab: key }}
            activeOptions={EXACT}
            aria-current={key === tab ? 'page' : undefined}
          >
            {name}
          </Link>
        ))}
      </nav>
      <Tab tab={tab} system={system} />
    </>
  );
}

function Tab({ tab, system }: { tab: string; system: System }) {
  switch (tab) {
    case 'settings':
      return <SettingsTab settings={system.process.settings} />;
    case 'limits':
      return <LimitsTab />;
    case 'quarantine':
      return <QuarantineTab />;
    case 'workspaces':
      return <WorkspacesTab />;
    case 'operators':
      return <OperatorsTab />;
    default:
      return <StorageTab system={system} />;
  }
}

/** The tab alone decides which link is current. */
const EXACT = { exact: true, includeSearch: true };
