import { PasswordInput } from '@mantine/core';
import type { Factors, PasskeyOptions } from '@millrace/contract/control';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ApiError, askControl } from '../../api/ask-control.ts';
import { renew } from '../../api/queries.ts';
import { Button } from '../../parts/button.tsx';
import { FactorFields, FactorProblem, type GivenFactor, proofOf, type Way } from '../../parts/factor-fields.tsx';

/** A change of the ways to sign in asks for the password again, and for a factor of an account that has one. */
export function ConfirmPerson({ factors, close }: { factors: Factors; close(): void }) {
  const client = useQueryClient();
  const ways = waysOf(factors);
  const [password, setPassword] = useState('');
  const [given, setGiven] = useState<GivenFactor>({ way: ways[0] ?? 'code', text: '' });
  const confirm = useMutation({
    mutationFn: async () => {
      const options = () => askControl<PasskeyOptions>('/me/confirm/options', { method: 'POST' });
      const proof = ways.length === 0 ? {} : { proof: await proofOf(given, options) };
      await askControl('/me/confirm', { method: 'POST', body: { password, ...proof } });
    },
    onSuccess: () => renew(client, ['/me/factors']),
  });
  const isWrong = confirm.error instanceof ApiError && confirm.error.problem.code === 'wrong_password';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    confirm.mutate();
  };
  return (
    <form className="stack" onSubmit={submit}>
      <p>Confirm that it is you. Then you have ten minutes for changes.</p>
      <PasswordInput
        label="Your password"
        autoComplete="current-password"
        required
        data-autofocus
        value={password}
        error={isWrong ? 'This is not your current password.' : undefined}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      {ways.length > 0 && <FactorFields ways={ways} given={given} set={setGiven} />}
      {confirm.error !== null && !isWrong && <FactorProblem error={confirm.error} />}
      <div className="btns end">
        <Button onClick={close}>Cancel</Button>
        <Button look="ink" type="submit" isBusy={confirm.isPending}>
          Confirm
        </Button>
      </div>
    </form>
  );
}

function waysOf({ totp, passkeys, recoveryCodesLeft, canAddPasskeys }: Factors): Way[] {
  if (totp === null && passkeys.length === 0) return [];
  return [
    ...(totp === null ? [] : (['code'] as const)),
    ...(passkeys.length === 0 || !canAddPasskeys ? [] : (['passkey'] as const)),
    ...(recoveryCodesLeft === 0 ? [] : (['recoveryCode'] as const)),
  ];
}
