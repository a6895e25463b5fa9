import type { SecondFactorAsked, SecondFactorGiven } from '@millrace/contract/control';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, askControl } from '../../api/ask-control.ts';
import { counted } from '../../format/numbers.ts';
import { Button } from '../../parts/button.tsx';
import { FactorFields, FactorProblem, type GivenFactor, proofOf } from '../../parts/factor-fields.tsx';
import { Note } from '../../parts/note.tsx';
import { Door, DoorForm } from '../../shell/door.tsx';

type SecondStepProps = {
  asked: SecondFactorAsked;
  restart(): void;
  signedIn(message?: string): Promise<void>;
};

/** The password was right; the account also has a second factor. */
export function SecondStep({ asked, restart, signedIn }: SecondStepProps) {
  const { ways, passkeyOptions } = asked;
  const [given, setGiven] = useState<GivenFactor>({ way: ways[0] ?? 'recoveryCode', text: '' });
  const signIn = useMutation({
    mutationFn: async () => {
      const body = await proofOf(given, async () => passkeyOptions ?? {});
      return askControl<SecondFactorGiven>('/session/second-factor', { method: 'POST', body });
    },
    onSuccess: ({ recoveryCodesLeft }) => signedIn(messageOf(given, recoveryCodesLeft)),
  });
  const code = signIn.error instanceof ApiError ? signIn.error.problem.code : '';
  return (
    <Door
      title="Second factor"
      sub="Your password is right. This account also asks for a second factor."
      foot="You have lost your phone and your passkeys? Use a recovery code. Without one, the people who run Millrace can remove your second factors."
    >
      <DoorForm submit={() => signIn.mutate()}>
        <FactorFields ways={ways} given={given} set={setGiven} isFirst={given.way === ways[0]} />
        {code === 'wrong_code' && (
          <Note state="givenup" title="The code is wrong.">
            {given.way === 'code'
              ? 'Each code works once: wait for the next one of your app and try again.'
              : 'Each recovery code works once. Check it, or use another one.'}
          </Note>
        )}
        {signIn.error !== null && code !== 'wrong_code' && <FactorProblem error={signIn.error} />}
        <Button look="ink" type="submit" isBusy={signIn.isPending}>
          {given.way === 'passkey' ? 'Use a passkey' : 'Sign in'}
        </Button>
        <Button look="quiet" onClick={restart}>
          Back to the password
        </Button>
      </DoorForm>
    </Door>
  );
}

function messageOf({ way }: GivenFactor, left: number): string | undefined {
  if (way !== 'recoveryCode') return undefined;
  return `You have ${counted(left, 'recovery code')} left. Make new ones under Profile before you need them.`;
}
