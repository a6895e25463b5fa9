import type { Session as SessionSchema } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Empty, ListStates } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { toast } from '../../parts/toasts.tsx';
import { browserWords } from './user-agent.ts';

type Session = Static<typeof SessionSchema>;
type Read = { isPending: boolean; error: Error | null; data: { items: Session[] } | undefined; refetch(): unknown };

/** The latest sessions; all of them when asked for. */
const FIRST = 8;

export function SessionsCard({ read }: { read: Read }) {
  const items = read.data?.items ?? [];
  const [isWhole, setIsWhole] = useState(false);
  const others = items.filter(({ isCurrent }) => !isCurrent).length;
  const end = useChange<string>({ method: 'DELETE', path: (id) => `/sessions/${id}`, renews: ['/sessions'] });
  return (
    <Card title="Sessions" aside={items.length} right={others > 1 && <EndOthers others={others} />}>
      <ListStates
        read={read}
        failed="Your sessions cannot be shown."
        isEmpty={items.length === 0}
        empty={<Empty title="No session">Each browser in which you sign in is listed here.</Empty>}
      >
        {end.error !== null && (
          <div className="pad">
            <ProblemNote error={end.error} what="The session did not end." />
          </div>
        )}
        <table className="folds">
          <thead>
            <tr>
              <th>Browser</th>
              <th>Address</th>
              <th>Signed in</th>
              <th>Last used</th>
              <th>
                <span className="sr">End it</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {(isWhole ? items : items.slice(0, FIRST)).map((session) => (
              <Row
                key={session.id}
                session={session}
                isBusy={end.isPending && end.variables === session.id}
                end={() =>
                  end.mutate(session.id, {
                    onSuccess: () => toast({ text: 'The session ended: that browser is signed out.' }),
                  })
                }
              />
            ))}
          </tbody>
        </table>
        {!isWhole && items.length > FIRST && (
          <div className="pad">
            <Button onClick={() => setIsWhole(true)}>Show all {items.length}</Button>
          </div>
        )}
      </ListStates>
    </Card>
  );
}

function Row({ session, isBusy, end }: { session: Session; isBusy: boolean; end(): void }) {
  const { userAgent, address, lastAddress, createdAt, lastSeenAt, isCurrent } = session;
  return (
    <tr>
      <td>
        <span title={userAgent.slice(0, 500)}>
          <OuterText text={browserWords(userAgent)} most={40} />
        </span>
        {isCurrent && <span className="sub">this browser</span>}
      </td>
      <td className="mono" data-label="Address">
        <OuterText text={address} most={40} />
        {lastAddress !== address && (
          <span className="sub">
            now <OuterText text={lastAddress} most={40} />
          </span>
        )}
      </td>
      <td data-label="Signed in">
        <TimeText at={createdAt} />
      </td>
      <td data-label="Last used">
        <TimeText at={lastSeenAt} />
      </td>
      <td className="num">
        {!isCurrent && (
          <Button small isBusy={isBusy} onClick={end}>
            End
          </Button>
        )}
      </td>
    </tr>
  );
}

function EndOthers({ others }: { others: number }) {
  const [isOpen, setIsOpen] = useState(false);
  const end = useChange({ method: 'POST', path: '/sessions/revoke-others', renews: ['/sessions'] });
  return (
    <>
      <Button small onClick={() => setIsOpen(true)}>
        End all others
      </Button>
      <Confirm
        title="End all your other sessions?"
        verb={`End ${others} sessions`}
        isOpen={isOpen}
        close={() => setIsOpen(false)}
        isBusy={end.isPending}
        error={end.error}
        confirm={() => end.mutate(undefined, { onSuccess: () => setIsOpen(false) })}
      >
        <p>{others} other browsers are signed out at once. This one stays signed in.</p>
      </Confirm>
    </>
  );
}
