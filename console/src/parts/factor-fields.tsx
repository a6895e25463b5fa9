/** Asks for a second factor, in one of the ways that the account has. */
import { SegmentedControl, TextInput } from '@mantine/core';
import type { FactorProof, PasskeyOptions, SecondFactorAsked } from '@millrace/contract/control';
import { PasskeyError, signWithPasskey } from '../api/passkeys.ts';
import { Note } from './note.tsx';
import { ProblemNote } from './problem-note.tsx';

export type Way = SecondFactorAsked['ways'][number];
export type GivenFactor = { way: Way; text: string };

const NAMES: Readonly<Record<Way, string>> = { code: 'App', passkey: 'Passkey', recoveryCode: 'Recovery code' };

type FactorFieldsProps = {
  ways: readonly Way[];
  given: GivenFactor;
  set(given: GivenFactor): void;
  /** The field gets the focus when it appears. */
  isFirst?: boolean;
};

export function FactorFields({ ways, given, set, isFirst = false }: FactorFieldsProps) {
  const field = {
    required: true,
    autoFocus: isFirst,
    value: given.text,
    onChange: (event: { currentTarget: { value: string } }) => set({ ...given, text: event.currentTarget.value }),
  };
  return (
    <>
      {ways.length > 1 && (
        <SegmentedControl
          aria-label="Second factor"
          fullWidth
          data={ways.map((way) => ({ value: way, label: NAMES[way] }))}
          value={given.way}
          onChange={(way) => set({ way, text: '' })}
        />
      )}
      {given.way === 'code' && (
        <TextInput
          label="Code of your authenticator app"
          inputMode="numeric"
          autoComplete="one-time-code"
          pattern="[0-9 ]*"
          {...field}
        />
      )}
      {given.way === 'recoveryCode' && (
        <TextInput
          label="Recovery code"
          description="Each of your recovery codes works once."
          inputWrapperOrder={['label', 'input', 'error', 'description']}
          autoComplete="off"
          {...field}
        />
      )}
      {given.way === 'passkey' && <p className="small">Your browser asks for the passkey in the next step.</p>}
    </>
  );
}

/** What the server is to be told. The browser asks for the passkey, with options that are fetched only then. */
export async function proofOf(
  { way, text }: GivenFactor,
  options: () => Promise<PasskeyOptions>,
): Promise<FactorProof> {
  if (way === 'code') return { code: text.replaceAll(/\s/g, '') };
  if (way === 'recoveryCode') return { recoveryCode: text };
  return { passkey: await signWithPasskey(await options()) };
}

export function FactorProblem({ error }: { error: unknown }) {
  if (error instanceof PasskeyError) return <Note state="givenup" title={error.message} />;
  return <ProblemNote error={error} />;
}
