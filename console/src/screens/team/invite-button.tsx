import { NativeSelect, TextInput } from '@mantine/core';
import type { CreatedInvitation } from '@millrace/contract/control';
import type { RoleName } from '@millrace/contract/permissions';
import { type FormEvent, useState } from 'react';
import type { Static } from 'typebox';
import { useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { grantable, ROLE_WORDS } from './roles.ts';
import { ShownOnce } from './shown-once.tsx';

type Created = Static<typeof CreatedInvitation>;
type NewInvitation = { email: string; role: RoleName };

export function InviteButton() {
  const [isOpen, setIsOpen] = useState(false);
  const invite = useChange<NewInvitation, Created>({
    method: 'POST',
    path: '/invitations',
    body: (input) => input,
    renews: ['/invitations'],
  });
  const close = () => {
    setIsOpen(false);
    invite.reset();
  };
  return (
    <>
      <Button look="ink" onClick={() => setIsOpen(true)}>
        Invite a person
      </Button>
      <Dialog title={invite.data === undefined ? 'Invite a person' : 'The invitation'} isOpen={isOpen} close={close}>
        {invite.data === undefined ? (
          <InviteForm invite={invite.mutate} isBusy={invite.isPending} error={invite.error} close={close} />
        ) : (
          <Invited created={invite.data} close={close} />
        )}
      </Dialog>
    </>
  );
}

type InviteFormProps = { invite(input: NewInvitation): void; isBusy: boolean; error: unknown; close(): void };

function InviteForm({ invite, isBusy, error, close }: InviteFormProps) {
  const { workspace } = useSession();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<RoleName>(grantable(workspace.role).includes('developer') ? 'developer' : 'viewer');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    invite({ email, role });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <TextInput
        label="Email address"
        type="email"
        required
        data-autofocus
        autoComplete="off"
        value={email}
        onChange={(event) => setEmail(event.currentTarget.value)}
      />
      <NativeSelect
        label="Role"
        description={`May ${ROLE_WORDS[role]}.`}
        inputWrapperOrder={['label', 'input', 'error', 'description']}
        value={role}
        data={grantable(workspace.role)}
        onChange={({ currentTarget: { value } }) => setRole(value as RoleName)}
      />
      <p className="small dim">
        The person gets a link by mail. Where this installation sends no mail, you get the link, and send it yourself.
      </p>
      {error !== null && <ProblemNote error={error} />}
      <div className="btns end">
        <Button onClick={close}>Cancel</Button>
        <Button look="ink" type="submit" isBusy={isBusy}>
          Invite
        </Button>
      </div>
    </form>
  );
}

function Invited({ created, close }: { created: Created; close(): void }) {
  const { email, expiresAt, link } = created;
  return (
    <div className="stack">
      <p>
        {link === undefined ? 'A mail with a link is on its way to ' : 'Send this link to '}
        <OuterText text={email} />. It works once, until <TimeText at={expiresAt} />, and ends when you invite the same
        address again.
      </p>
      {link !== undefined && <ShownOnce label="Link" text={`${location.origin}${link}`} />}
      <div className="btns end">
        <Button look="ink" onClick={close}>
          Done
        </Button>
      </div>
    </div>
  );
}
