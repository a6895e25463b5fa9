import { Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { readingOverview } from '../api/overview.ts';
import { useMay, useSession } from '../api/session.tsx';
import { useSignOut } from '../api/sign-out.ts';
import { count } from '../format/numbers.ts';
import { visible } from '../format/texts.ts';
import { zone } from '../format/times.ts';
import { Icon, type IconName } from '../parts/icon.tsx';
import { StateMark } from '../parts/state-mark.tsx';
import { tellError } from '../parts/tell-error.ts';
import { OuterLink, OuterText } from '../parts/texts.tsx';

const REFRESH_MS = 15_000;

/** The menu of a phone closes when a link is followed, also one to the page that is open. */
export function Navigation({ leave }: { leave?: () => void }) {
  const { data } = useQuery(readingOverview(REFRESH_MS));
  const failing = data?.tiles.failing ?? 0;
  const dead = data?.tiles.deadLetters ?? 0;
  const maySeeProfiles = useMay('profiles:read');
  const maySeePrivacy = useMay('deletions:read');
  const maySeeSystem = useMay('system:read');
  return (
    <nav className="nav" aria-label="Main">
      <Brand />
      <Entry leave={leave} to="/" icon="home" name="Home" />
      <h2>Collect</h2>
      <Entry leave={leave} to="/sources" icon="source" name="Sources" />
      <Entry leave={leave} to="/events" icon="event" name="Events" />
      <h2>Deliver</h2>
      <Entry leave={leave} to="/destinations" icon="dest" name="Destinations">
        {failing > 0 && (
          <span className="n givenup">
            <StateMark state="givenup" />
            {count(failing)}
            <span className="sr"> failing</span>
          </span>
        )}
      </Entry>
      <Entry leave={leave} to="/deliveries" icon="delivery" name="Deliveries" />
      <Entry leave={leave} to="/dead-letters" icon="dead" name="Dead letters">
        {dead > 0 && <span className="n">{count(dead)}</span>}
      </Entry>
      <Entry leave={leave} to="/replays" icon="replay" name="Replays" />
      <h2>People</h2>
      <Entry leave={leave} to="/audiences" icon="aud" name="Audiences" />
      {maySeeProfiles && <Entry leave={leave} to="/profiles" icon="user" name="Profiles" />}
      <h2>Workspace</h2>
      {maySeePrivacy && <Entry leave={leave} to="/privacy" icon="lock" name="Privacy" />}
      <Entry leave={leave} to="/team" icon="team" name="Team and audit" />
      <Entry leave={leave} to="/usage" icon="usage" name="Usage" />
      {maySeeSystem && <Entry leave={leave} to="/system" icon="system" name="System" />}
      <Foot />
    </nav>
  );
}

type EntryProps = {
  leave?: (() => void) | undefined;
  to: NonNullable<LinkProps['to']>;
  icon: IconName;
  name: string;
  children?: ReactNode;
};

function Entry({ leave, to, icon, name, children }: EntryProps) {
  return (
    <Link
      to={to}
      activeOptions={{ exact: to === '/', includeSearch: false }}
      activeProps={{ 'aria-current': 'page' }}
      onClick={leave}
    >
      <Icon name={icon} />
      {name}
      {children}
    </Link>
  );
}

function Brand() {
  const { workspace, workspaces, chooseWorkspace } = useSession();
  return (
    <Menu position="bottom-start" withinPortal>
      <Menu.Target>
        <button type="button" className="brand">
          <Wheel />
          <span>
            Millrace <span className="sr">workspace </span>
            <bdi className="ws">{visible(workspace.name)}</bdi>
          </span>
          <span className="sw">
            <Icon name="down" />
          </span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Workspaces</Menu.Label>
        {workspaces.map(({ id, name }) => (
          <Menu.Item key={id} onClick={() => chooseWorkspace(id)} disabled={id === workspace.id}>
            <OuterText text={name} most={60} />
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

export function Wheel() {
  return (
    <svg className="wheel" viewBox="0 0 22 22" aria-hidden="true">
      <circle cx="11" cy="8.5" r="5.7" />
      <path d="M11 2.8v11.4M6.1 5.6l9.8 5.8M15.9 5.6l-9.8 5.8" />
      <path d="M1.5 18.5c2.4 0 2.4-1.5 4.75-1.5s2.4 1.5 4.75 1.5 2.4-1.5 4.75-1.5 2.4 1.5 4.75 1.5" />
    </svg>
  );
}

function Foot() {
  const { user, workspace } = useSession();
  const signOut = useSignOut();
  return (
    <div className="foot">
      <OuterLink to="/profile" text={user.name} most={60} />, {workspace.role}
      <br />
      Times in {zone()}
      <br />
      <button type="button" className="aslink" onClick={() => signOut.mutate(undefined, { onError: tellError })}>
        Sign out
      </button>
    </div>
  );
}
