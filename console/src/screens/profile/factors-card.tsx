import type { Factors, Passkey } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { reading } from '../../api/queries.ts';
import { counted } from '../../format/numbers.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { ListStates } from '../../parts/list-states.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { FactorDialog, type FactorChange } from './factor-dialog.tsx';
import { RenamePasskey } from './rename-passkey.tsx';

/** A second factor beside the password: an authenticator app, passkeys, and recovery codes for the day when both are lost. */
export function FactorsCard() {
  const read = useQuery(reading<Factors>('/me/factors'));
  return (
    <Card title="Second factor">
      <ListStates read={read} failed="Your second factors cannot be shown." isEmpty={false} empty={null}>
        {read.data !== undefined && <Body factors={read.data} />}
      </ListStates>
    </Card>
  );
}

function Body({ factors }: { factors: Factors }) {
  const [change, setChange] = useState<FactorChange | undefined>();
  const { totp, passkeys, recoveryCodesLeft, canAddPasskeys } = factors;
  const hasFactor = totp !== null || passkeys.length > 0;
  return (
    <>
      {hasFactor && (
        <table className="folds">
          <thead>
            <tr>
              <th>Factor</th>
              <th>Added</th>
              <th>Last used</th>
              <th>
                <span className="sr">Rename, remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {totp !== null && <AppRow totp={totp} remove={() => setChange({ kind: 'remove-app' })} />}
            {passkeys.map((passkey) => (
              <PasskeyRow
                key={passkey.id}
                passkey={passkey}
                remove={() => setChange({ kind: 'remove-passkey', passkey })}
              />
            ))}
          </tbody>
        </table>
      )}
      <div className="pad stack">
        <p className="small">
          {hasFactor
            ? `${counted(recoveryCodesLeft, 'recovery code')} left. Each signs you in once, when you have lost everything else.`
            : 'Your password alone signs you in. With a second factor, a stolen password is not enough.'}
        </p>
        {!canAddPasskeys && (
          <p className="small dim">
            Passkeys are bound to the address of the console, which the operator has not set with HTTPS yet.
          </p>
        )}
        <div className="btns">
          <Button onClick={() => setChange({ kind: 'add-app' })}>
            {totp === null ? 'Add an authenticator app' : 'Replace the app'}
          </Button>
          {canAddPasskeys && <Button onClick={() => setChange({ kind: 'add-passkey' })}>Add a passkey</Button>}
          {hasFactor && <Button onClick={() => setChange({ kind: 'new-codes' })}>New recovery codes</Button>}
        </div>
      </div>
      <FactorDialog change={change} factors={factors} close={() => setChange(undefined)} />
    </>
  );
}

function AppRow({ totp, remove }: { totp: NonNullable<Factors['totp']>; remove(): void }) {
  return (
    <tr>
      <td>Authenticator app</td>
      <Times {...totp} />
      <td className="num">
        <Button small onClick={remove}>
          Remove
        </Button>
      </td>
    </tr>
  );
}

function PasskeyRow({ passkey, remove }: { passkey: Passkey; remove(): void }) {
  return (
    <tr>
      <td>
        <OuterText text={passkey.name} most={60} />
        <span className="sub">passkey</span>
      </td>
      <Times {...passkey} />
      <td className="num">
        <span className="btns end">
          <RenamePasskey passkey={passkey} />
          <Button small onClick={remove}>
            Remove
          </Button>
        </span>
      </td>
    </tr>
  );
}

function Times({ createdAt, lastUsedAt }: { createdAt: string; lastUsedAt: string | null }) {
  return (
    <>
      <td data-label="Added">
        <TimeText at={createdAt} />
      </td>
      <td data-label="Last used">
        {lastUsedAt === null ? <span className="dim">never</span> : <TimeText at={lastUsedAt} />}
      </td>
    </>
  );
}
