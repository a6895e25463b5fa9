import type { Member } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { reading } from '../../api/queries.ts';
import { useMay, useSession } from '../../api/session.tsx';
import { counted } from '../../format/numbers.ts';
import { Sentence } from '../../parts/sentence.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { Page } from '../../shell/page.tsx';
import { AuditKeeping } from './audit-keeping.tsx';
import { AuditTab } from './audit-tab.tsx';
import { EndCard } from './end-card.tsx';
import { InvitationsTab } from './invitations-tab.tsx';
import { InviteButton } from './invite-button.tsx';
import { MembersTab } from './members-tab.tsx';
import { NewTokenButton } from './new-token-button.tsx';
import { RenameButton } from './rename-button.tsx';
import { SecondFactorCard } from './second-factor-card.tsx';
import { countRoles } from './roles.ts';
import { SignOnTab } from './sign-on/sign-on-tab.tsx';
import { TokensTab } from './tokens-tab.tsx';
import { useNames } from './use-names.ts';

type TabName = 'members' | 'invitations' | 'tokens' | 'sign-on' | 'audit';

export function Team() {
  const { workspace } = useSession();
  const { tab: wanted } = useSearch({ from: '/shell/team' });
  const members = useQuery(reading<{ items: Member[] }>('/members'));
  const may = { members: useMay('members:write'), tokens: useMay('tokens:read'), audit: useMay('audit:read') };
  const maySeeSignOn = useMay('single-sign-on:read');
  const mayRename = useMay('workspace:write');
  const tabs: { key: TabName; name: string }[] = [
    { key: 'members', name: 'Members' },
    ...(may.members ? [{ key: 'invitations' as const, name: 'Invitations' }] : []),
    ...(may.tokens ? [{ key: 'tokens' as const, name: 'Tokens' }] : []),
    ...(maySeeSignOn ? [{ key: 'sign-on' as const, name: 'Single sign-on' }] : []),
    ...(may.audit ? [{ key: 'audit' as const, name: 'Audit log' }] : []),
  ];
  const tab = tabs.find(({ key }) => key === wanted)?.key ?? 'members';
  const people = members.data?.items;
  const action =
    tab === 'tokens' ? (
      <NewTokenButton />
    ) : (
      may.members && (tab === 'members' || tab === 'invitations') && <InviteButton />
    );
  return (
    <Page title="Team and audit">
      <Sentence
        then={THEN[tab] ?? (people === undefined ? undefined : `${countRoles(people.map(({ role }) => role))}.`)}
        actions={
          <>
            {mayRename && tab === 'members' && <RenameButton />}
            {action}
          </>
        }
      >
        {LEADS[tab] ??
          (people === undefined ? 'The people of' : `${counted(people.length, 'person works', 'people work')} in`)}{' '}
        <OuterText text={workspace.name} most={60} />.
      </Sentence>
      <nav className="tabs" aria-label="Team">
        {tabs.map(({ key, name }) => (
          <Link
            key={key}
            to="/team"
            search={key === 'members' ? {} : { tab: key }}
            activeOptions={EXACT}
            aria-current={key === tab ? 'page' : undefined}
          >
            {name}
          </Link>
        ))}
      </nav>
      <Tab
        tab={tab}
        members={
          <div className="stack">
            <MembersTab read={members} />
            {people !== undefined && <SecondFactorCard members={people} />}
          </div>
        }
      />
    </Page>
  );
}

function Tab({ tab, members }: { tab: TabName; members: ReactNode }) {
  const names = useNames();
  switch (tab) {
    case 'members':
      return (
        <div className="stack">
          {members}
          <EndCard />
        </div>
      );
    case 'invitations':
      return <InvitationsTab names={names} />;
    case 'tokens':
      return <TokensTab names={names} />;
    case 'sign-on':
      return <SignOnTab />;
    case 'audit':
      return (
        <div className="stack">
          <AuditKeeping />
          <AuditTab names={names} />
        </div>
      );
  }
}

/** The sentence of members counts them; the others say what they list. */
const LEADS: Partial<Record<TabName, string>> = {
  invitations: 'Open invitations to',
  tokens: 'Tokens of',
  'sign-on': 'Single sign-on of',
  audit: 'Every change, every read of payloads and every refused permission of',
};
const THEN: Partial<Record<TabName, string>> = {
  invitations: 'Each works once, for 72 hours, and ends when you withdraw it.',
  tokens: 'A token has no more rights than its maker has now, and ends with its maker.',
  'sign-on': 'People sign in at your OpenID provider, and their groups there decide about their roles here.',
  audit: 'A hash chain links the entries, so Millrace finds a changed or missing one.',
};

/** The tab alone decides which link is current. */
const EXACT = { exact: true, includeSearch: true };
