import type { CreatedToken } from '@millrace/contract/control';
import { useState } from 'react';
import type { Static } from 'typebox';
import { useChange } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { Button } from '../../parts/button.tsx';
import { Code } from '../../parts/code.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { type NewToken, NewTokenForm } from './new-token-form.tsx';
import { ShownOnce } from './shown-once.tsx';

type Created = Static<typeof CreatedToken>;

export function NewTokenButton() {
  const [isOpen, setIsOpen] = useState(false);
  const mayWrite = useMay('tokens:write');
  const create = useChange<NewToken, Created>({
    method: 'POST',
    path: '/tokens',
    body: (input) => input,
    renews: ['/tokens'],
  });
  const close = () => {
    setIsOpen(false);
    create.reset();
  };
  if (!mayWrite) return null;
  return (
    <>
      <Button look="ink" onClick={() => setIsOpen(true)}>
        New token
      </Button>
      <Dialog title={create.data === undefined ? 'New token' : 'The token'} isOpen={isOpen} close={close} size="lg">
        {create.data === undefined ? (
          <NewTokenForm create={create.mutate} isBusy={create.isPending} error={create.error} close={close} />
        ) : (
          <div className="stack">
            <ShownOnce label="Token" text={create.data.token} />
            <Code
              label="example"
              text={`curl "${location.origin}/api/v1/me" \\\n  -H "Authorization: Bearer ${create.data.token}"`}
            />
            <div className="btns end">
              <Button look="ink" onClick={close}>
                Done
              </Button>
            </div>
          </div>
        )}
      </Dialog>
    </>
  );
}
