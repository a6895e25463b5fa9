import type { Invitation as InvitationSchema } from '@millrace/contract/control';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { Static } from 'typebox';
import { readingPages, useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Empty, ListStates, Older } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { toast } from '../../parts/toasts.tsx';

type Invitation = Static<typeof InvitationSchema>;

export function InvitationsTab({ names }: { names: ReadonlyMap<string, string> }) {
  const pages = useInfiniteQuery(readingPages<Invitation>('/invitations', { every: 30_000 }));
  const items = pages.data?.pages.flatMap((page) => page.items) ?? [];
  const withdraw = useChange<string>({
    method: 'DELETE',
    path: (id) => `/invitations/${id}`,
    renews: ['/invitations'],
  });
  return (
    <Card>
      {withdraw.error !== null && (
        <div className="pad">
          <ProblemNote error={withdraw.error} what="The invitation was not withdrawn." />
        </div>
      )}
      <ListStates
        read={pages}
        failed="The invitations cannot be shown."
        isEmpty={items.length === 0}
        empty={
          <Empty title="No open invitation">
            You invite a person with a link that works once, for 72 hours. Links that are still open are listed here, so
            that you can withdraw them.
          </Empty>
        }
      >
        <table className="folds">
          <thead>
            <tr>
              <th>Email address</th>
              <th>Role</th>
              <th>Invited by</th>
              <th>Link ends</th>
              <th>
                <span className="sr">Withdraw</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map(({ id, email, role, createdBy, expiresAt }) => (
              <tr key={id}>
                <td>
                  <OuterText text={email} />
                </td>
                <td data-label="Role">{role}</td>
                <td data-label="By">
                  <OuterText text={names.get(createdBy) ?? createdBy} most={40} />
                </td>
                <td data-label="Ends">
                  <TimeText at={expiresAt} withDistance />
                </td>
                <td className="num">
                  <Button
                    small
                    isBusy={withdraw.isPending && withdraw.variables === id}
                    onClick={() =>
                      withdraw.mutate(id, { onSuccess: () => toast({ text: 'Withdrawn: the link no longer works.' }) })
                    }
                  >
                    Withdraw
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        <Older pages={pages} />
      </ListStates>
    </Card>
  );
}
