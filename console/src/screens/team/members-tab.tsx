import { NativeSelect } from '@mantine/core';
import type { Member } from '@millrace/contract/control';
import { isAtMost, type RoleName } from '@millrace/contract/permissions';
import { useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { useMay, useSession } from '../../api/session.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Empty, ListStates } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { tellError } from '../../parts/tell-error.ts';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { toast } from '../../parts/toasts.tsx';
import { MemberLinkButton } from './member-link-button.tsx';
import { grantable, ROLE_WORDS } from './roles.ts';
import styles from './team.module.css';

type Read = { isPending: boolean; error: Error | null; data: { items: Member[] } | undefined; refetch(): unknown };
type RoleChange = { userId: string; role: RoleName };

export function MembersTab({ read }: { read: Read }) {
  const items = read.data?.items ?? [];
  const change = useChange<RoleChange>({
    method: 'PATCH',
    path: ({ userId }) => `/members/${userId}`,
    body: ({ role }) => ({ role }),
    renews: ['/members'],
  });
  const setRole = ({ userId, name, role: before }: Member, role: RoleName) =>
    change.mutate(
      { userId, role },
      {
        onSuccess: () =>
          toast({
            text: `${name.slice(0, 60)} is ${role} now.`,
            undo: () => void change.mutateAsync({ userId, role: before }).catch(tellError),
          }),
      },
    );
  return (
    <Card>
      {change.error !== null && (
        <div className="pad">
          <ProblemNote error={change.error} what="The role was not changed." />
        </div>
      )}
      <ListStates
        read={read}
        failed="The members cannot be shown."
        isEmpty={items.length === 0}
        empty={<Empty title="No members">Everybody who may see this workspace is listed here.</Empty>}
      >
        <table className="folds">
          <thead>
            <tr>
              <th>Member</th>
              <th>Role</th>
              <th>Second factor</th>
              <th>Member since</th>
              <th>
                <span className="sr">New password, remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map((member) => (
              <Row member={member} setRole={(role) => setRole(member, role)} key={member.userId} />
            ))}
          </tbody>
        </table>
      </ListStates>
    </Card>
  );
}

function Row({ member, setRole }: { member: Member; setRole(role: RoleName): void }) {
  const { user, workspace } = useSession();
  const mayWrite = useMay('members:write');
  const { userId, name, email, role, createdAt, hasSecondFactor, isManaged, isBreakGlass } = member;
  const isSelf = userId === user.id;
  const mayChange = mayWrite && !isSelf && isAtMost(role, workspace.role);
  return (
    <tr>
      <td>
        <b>
          <OuterText text={name} most={60} />
        </b>
        {isSelf && <span className="dim"> you</span>}
        <span className="sub">
          <OuterText text={email} />
        </span>
        {isManaged && <span className="sub">by single sign-on</span>}
        {isBreakGlass && <span className="sub">break-glass owner</span>}
      </td>
      <td title={ROLE_WORDS[role]}>
        {mayChange ? (
          <NativeSelect
            className={styles['role'] ?? ''}
            aria-label={`Role of ${name.slice(0, 60)}`}
            value={role}
            data={grantable(workspace.role)}
            onChange={({ currentTarget: { value } }) => setRole(value as RoleName)}
          />
        ) : (
          role
        )}
      </td>
      <td data-label="Second factor">{hasSecondFactor ? 'yes' : 'none'}</td>
      <td data-label="Since">
        <TimeText at={createdAt} />
      </td>
      <td className="num">
        {mayChange && (
          <span className="btns end">
            {!isManaged && <MemberLinkButton member={member} />}
            <RemoveButton member={member} />
          </span>
        )}
      </td>
    </tr>
  );
}

function RemoveButton({ member: { userId, name, email } }: { member: Member }) {
  const [isOpen, setIsOpen] = useState(false);
  const remove = useChange({ method: 'DELETE', path: `/members/${userId}`, renews: ['/members', '/tokens'] });
  return (
    <>
      <Button small onClick={() => setIsOpen(true)}>
        Remove
      </Button>
      <Confirm
        title={
          <>
            Remove <OuterText text={name} most={40} />?
          </>
        }
        verb="Remove"
        typed={email}
        isOpen={isOpen}
        close={() => setIsOpen(false)}
        isBusy={remove.isPending}
        error={remove.error}
        confirm={() => remove.mutate(undefined, { onSuccess: () => setIsOpen(false) })}
      >
        <p>
          They lose access to this workspace at once, and every token that they made ends, with the tokens made with
          those. Their account stays if they have another workspace; otherwise it is removed after a day. To let them
          back in, invite them again.
        </p>
      </Confirm>
    </>
  );
}
