import type { SingleSignOn } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { reading, useChange } from '../../../api/queries.ts';
import { useMay } from '../../../api/session.tsx';
import { Button } from '../../../parts/button.tsx';
import { Card, Facts } from '../../../parts/card.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { Confirm } from '../../../parts/dialog.tsx';
import { LoadingRows } from '../../../parts/list-states.tsx';
import { Note } from '../../../parts/note.tsx';
import { ProblemNote } from '../../../parts/problem-note.tsx';
import { OuterText, TimeText } from '../../../parts/texts.tsx';
import { ConnectionForm } from './connection-form.tsx';
import { DomainsCard } from './domains-card.tsx';
import { RequiredCard } from './required-card.tsx';
import { TestCard } from './test-card.tsx';

/** The connection of the workspace to its OpenID provider. Owners change it, admins see it. */
export function SignOnTab() {
  const read = useQuery(reading<SingleSignOn>('/single-sign-on'));
  const mayWrite = useMay('single-sign-on:write');
  if (read.error !== null) return <ProblemNote error={read.error} what="Single sign-on cannot be shown." />;
  if (read.data === undefined) return <LoadingRows />;
  const { addresses, connection } = read.data;
  if (addresses === null) {
    return (
      <Note title="Single sign-on is not possible yet.">
        The provider sends people back to this console, and the installation does not know its own address. The operator
        sets <code>MILLRACE_CONSOLE_URL</code>.
      </Note>
    );
  }
  return (
    <div className="cols">
      <div className="stack">
        {mayWrite && <ConnectionForm connection={connection} key={connection?.updatedAt ?? 'new'} />}
        {connection !== null && mayWrite && <RequiredCard connection={connection} />}
      </div>
      <div className="stack">
        <Card title="For your provider">
          <div className="pad">
            <Facts
              facts={[
                ['Redirect URI', <Copied key="redirect" text={addresses.redirectUri} />],
                ['After signing out', <Copied key="out" text={addresses.signedOutUri} />],
                ['Sign-in link', <Copied key="in" text={addresses.signInUrl} />],
              ]}
            />
          </div>
        </Card>
        {connection !== null && (
          <>
            <Card title="State" right={mayWrite && <DeleteButton />}>
              <div className="pad">
                <Facts
                  facts={[
                    ['Provider', <OuterText key="issuer" text={connection.issuer} />],
                    ['Required', connection.required ? 'yes' : 'no'],
                    [
                      'Last sign-in',
                      connection.lastSignInAt === null ? (
                        'none yet'
                      ) : (
                        <TimeText key="last" at={connection.lastSignInAt} />
                      ),
                    ],
                  ]}
                />
              </div>
            </Card>
            {mayWrite && <TestCard />}
            <DomainsCard connection={connection} mayWrite={mayWrite} />
          </>
        )}
      </div>
    </div>
  );
}

function Copied({ text }: { text: string }) {
  return (
    <span className="mono">
      <OuterText text={text} /> <CopyButton text={text} />
    </span>
  );
}

function DeleteButton() {
  const [isOpen, setIsOpen] = useState(false);
  const remove = useChange({ method: 'DELETE', path: '/single-sign-on', renews: ['/single-sign-on', '/members'] });
  return (
    <>
      <Button small onClick={() => setIsOpen(true)}>
        Delete
      </Button>
      <Confirm
        title="Delete single sign-on?"
        verb="Delete"
        typed="delete"
        isOpen={isOpen}
        close={() => setIsOpen(false)}
        isBusy={remove.isPending}
        error={remove.error}
        confirm={() => remove.mutate(undefined, { onSuccess: () => setIsOpen(false) })}
      >
        <p>
          Sessions that the provider started end at once. People whose accounts single sign-on made stay members without
          a way in, until there is a connection to the same provider again.
        </p>
      </Confirm>
    </>
  );
}
