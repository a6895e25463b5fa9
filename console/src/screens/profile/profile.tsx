import { useQuery } from '@tanstack/react-query';
import type { Sessions } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { reading } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { counted } from '../../format/numbers.ts';
import { zone } from '../../format/times.ts';
import { Card, Facts } from '../../parts/card.tsx';
import { Note } from '../../parts/note.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { IdText, OuterText } from '../../parts/texts.tsx';
import { Page } from '../../shell/page.tsx';
import { ConsoleCard } from './console-card.tsx';
import { EmailCard } from './email-card.tsx';
import { FactorsCard } from './factors-card.tsx';
import { PasswordCard } from './password-card.tsx';
import { SignOnCard } from './sign-on-card.tsx';
import { SessionsCard } from './sessions-card.tsx';
import { WorkspacesCard } from './workspaces-card.tsx';

export function Profile() {
  const { user, workspace, isSingleSignOn } = useSession();
  const sessions = useQuery(reading<Static<typeof Sessions>>('/sessions', { every: 30_000 }));
  const open = sessions.data?.items.length;
  return (
    <Page title="Profile">
      <Sentence
        then={
          open === undefined
            ? undefined
            : `${counted(open, 'session of yours is', 'sessions of yours are')} open. A session ends after 12 hours without use, and after 7 days in any case.`
        }
      >
        You are signed in as <OuterText text={user.name} most={60} />, {workspace.role} of{' '}
        <OuterText text={workspace.name} most={60} />.
      </Sentence>
      {workspace.needsSecondFactor && !user.hasSecondFactor && (
        <Note state="givenup" title="This workspace demands a second factor of its members.">
          Add one below: then everything else opens again.
        </Note>
      )}
      <div className="cols mt2">
        <div className="stack">
          <SessionsCard read={sessions} />
          {isSingleSignOn ? (
            <Note title="Single sign-on started this session.">
              It opens this workspace alone. Passwords, addresses and other workspaces are changed in a session that you
              start with a password, if your account has one.
            </Note>
          ) : (
            <>
              <FactorsCard />
              <PasswordCard />
              <EmailCard />
            </>
          )}
        </div>
        <div className="stack">
          <Card title="Account">
            <div className="pad">
              <Facts
                facts={[
                  ['Name', <OuterText key="name" text={user.name} />],
                  ['Email address', <OuterText key="email" text={user.email} />],
                  ['Id', <IdText key="id" id={user.id} />],
                  ['Time zone', zone()],
                ]}
              />
            </div>
          </Card>
          {!isSingleSignOn && <WorkspacesCard />}
          {!isSingleSignOn && workspace.singleSignOn !== 'none' && <SignOnCard />}
          <ConsoleCard />
        </div>
      </div>
    </Page>
  );
}
