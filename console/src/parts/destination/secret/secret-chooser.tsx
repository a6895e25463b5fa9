/** Makes or takes the secret that signs the requests. It stays in this page until it is saved, and nowhere else. */
import { PasswordInput, SegmentedControl } from '@mantine/core';
import { Button } from '../../button.tsx';
import { Icon } from '../../icon.tsx';
import { Note } from '../../note.tsx';
import { makeSecret, secretProblem } from './secret.ts';
import { ShownSecret } from './shown-secret.tsx';

export type SecretMode = 'made' | 'pasted' | 'none';

type SecretChooserProps = {
  mode: SecretMode;
  secret: string;
  /** A destination may go without one; the next secret of a destination may not. */
  allowsNone?: boolean;
  change(mode: SecretMode, secret: string): void;
};

export function SecretChooser({ mode, secret, allowsNone = true, change }: SecretChooserProps) {
  const problem = mode === 'pasted' && secret !== '' ? secretProblem(secret) : undefined;
  return (
    <div className="stack">
      <div>
        <SegmentedControl
          aria-label="Where the secret comes from"
          size="xs"
          value={mode}
          data={[
            { value: 'made', label: 'Make one' },
            { value: 'pasted', label: 'Paste one' },
            ...(allowsNone ? [{ value: 'none', label: 'No secret' }] : []),
          ]}
          onChange={(next) => change(next as SecretMode, next === 'made' ? makeSecret() : '')}
        />
      </div>
      {mode === 'made' && secret !== '' && (
        <>
          <ShownSecret secret={secret} />
          <p className="small dim">
            Your browser made it from 32 random bytes. Copy it into your receiver now: Millrace seals it and never shows
            it again.{' '}
            <Button small look="quiet" onClick={() => change('made', makeSecret())}>
              <Icon name="replay" />
              Make another
            </Button>
          </p>
        </>
      )}
      {mode === 'made' && secret === '' && (
        <Note state="retrying" title="The secret was not kept when the page was loaded again.">
          If your receiver has it already, paste it.{' '}
          <Button small onClick={() => change('made', makeSecret())}>
            Make a new one
          </Button>
        </Note>
      )}
      {mode === 'pasted' && (
        <PasswordInput
          label="The secret that your receiver has"
          description="8 to 500 characters. With whsec_ in front the rest is base64."
          autoComplete="off"
          value={secret}
          error={problem}
          onChange={(event) => change('pasted', event.currentTarget.value)}
        />
      )}
      {mode === 'none' && (
        <Note state="retrying" title="Without a secret nothing is signed.">
          Anybody who learns the URL can send your receiver events that look genuine.
        </Note>
      )}
    </div>
  );
}
