/** One change of the factors, in a dialog: first the person confirms, then the change is made, then new recovery codes are shown once. */
import type { Factors, Passkey, RecoveryCodes } from '@millrace/contract/control';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { toast } from '../../parts/toasts.tsx';
import { useNow } from '../../parts/use-now.ts';
import { AddApp } from './add-app.tsx';
import { AddPasskey } from './add-passkey.tsx';
import { ConfirmPerson } from './confirm-person.tsx';
import { RecoveryCodeList } from './recovery-codes.tsx';

export type FactorChange =
  | { kind: 'add-app' }
  | { kind: 'add-passkey' }
  | { kind: 'new-codes' }
  | { kind: 'remove-app' }
  | { kind: 'remove-passkey'; passkey: Passkey };

const TITLES: Readonly<Record<FactorChange['kind'], string>> = {
  'add-app': 'An authenticator app',
  'add-passkey': 'A passkey',
  'new-codes': 'New recovery codes',
  'remove-app': 'Remove the authenticator app?',
  'remove-passkey': 'Remove the passkey?',
};

type FactorDialogProps = { change: FactorChange | undefined; factors: Factors; close(): void };

export function FactorDialog({ change, factors, close }: FactorDialogProps) {
  return (
    <Dialog title={change === undefined ? '' : TITLES[change.kind]} isOpen={change !== undefined} close={close}>
      {change !== undefined && <Steps change={change} factors={factors} close={close} />}
    </Dialog>
  );
}

type StepsProps = FactorDialogProps & { change: FactorChange };

function Steps({ change, factors, close }: StepsProps) {
  const client = useQueryClient();
  const now = useNow(10_000);
  const [codes, setCodes] = useState<readonly string[] | undefined>();
  const done = (text: string) => {
    void client.invalidateQueries({ queryKey: ['me'] });
    toast({ text });
    close();
  };
  const added = (made: readonly string[] | null) => {
    void client.invalidateQueries({ queryKey: ['me'] });
    if (made === null) done('It is added. Your other sessions have ended.');
    else setCodes(made);
  };
  if (codes !== undefined) return <RecoveryCodeList codes={codes} done={close} />;
  if (factors.confirmedUntil === null || Date.parse(factors.confirmedUntil) < now)
    return <ConfirmPerson factors={factors} close={close} />;
  switch (change.kind) {
    case 'add-app':
      return <AddApp added={added} close={close} />;
    case 'add-passkey':
      return <AddPasskey added={added} close={close} />;
    case 'new-codes':
      return <NewCodes made={setCodes} close={close} />;
    case 'remove-app':
      return (
        <Remove path="/me/totp" done={done} close={close}>
          The codes of your app no longer sign you in.
        </Remove>
      );
    case 'remove-passkey':
      return (
        <Remove path={`/me/passkeys/${change.passkey.id}`} done={done} close={close}>
          <OuterText text={change.passkey.name} most={60} /> no longer signs you in. Delete it on its device, too:
          Millrace cannot.
        </Remove>
      );
  }
}

function NewCodes({ made, close }: { made(codes: readonly string[]): void; close(): void }) {
  const make = useChange<void, RecoveryCodes>({
    method: 'POST',
    path: '/me/recovery-codes',
    renews: ['/me/factors', '/sessions'],
  });
  return (
    <div className="stack">
      <p>Ten new codes take the place of all that you have. Your other sessions end.</p>
      {make.error !== null && <ProblemNote error={make.error} />}
      <div className="btns end">
        <Button onClick={close}>Cancel</Button>
        <Button
          look="ink"
          isBusy={make.isPending}
          onClick={() => make.mutate(undefined, { onSuccess: ({ recoveryCodes }) => made(recoveryCodes) })}
        >
          Make new codes
        </Button>
      </div>
    </div>
  );
}

type RemoveProps = { path: string; done(text: string): void; close(): void; children: ReactNode };

function Remove({ path, done, close, children }: RemoveProps) {
  const remove = useChange({ method: 'DELETE', path, renews: ['/me/factors', '/sessions'] });
  return (
    <div className="stack">
      <p>
        {children} Your other sessions end. With your last app or passkey the recovery codes go, too, and a workspace
        that demands a second factor is closed to you.
      </p>
      {remove.error !== null && <ProblemNote error={remove.error} />}
      <div className="btns end">
        <Button onClick={close}>Keep</Button>
        <Button
          look="danger"
          isBusy={remove.isPending}
          onClick={() => remove.mutate(undefined, { onSuccess: () => done('It is removed.') })}
        >
          Remove
        </Button>
      </div>
    </div>
  );
}
