import type { SecondFactorAsked } from '@millrace/contract/control';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useEnter } from '../../api/enter.ts';
import { toast } from '../../parts/toasts.tsx';
import { FirstStep } from './first-step.tsx';
import { ownPath } from './own-path.ts';
import { SecondStep } from './second-step.tsx';

export function SignIn() {
  const { back } = useSearch({ from: '/sign-in' });
  const enter = useEnter();
  const [asked, setAsked] = useState<SecondFactorAsked | undefined>();
  const signedIn = async (message?: string) => {
    await enter(undefined, { href: ownPath(back) });
    if (message !== undefined) toast({ text: message });
  };
  if (asked === undefined) return <FirstStep ask={setAsked} signedIn={() => signedIn()} />;
  return <SecondStep asked={asked} restart={() => setAsked(undefined)} signedIn={signedIn} />;
}
