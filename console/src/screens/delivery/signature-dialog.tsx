/** Checks a signature in the browser: the person pastes the secret, and nothing leaves the page. */
import type { DeliveryDetails } from '@millrace/contract/control';
import { PasswordInput, Textarea, TextInput } from '@mantine/core';
import { useEffect, useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Note } from '../../parts/note.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { headerOf, type ShownRequest } from './curl.ts';
import { bodySignature, standardSignature, type Verdict, verdictOf } from './verify-signature.ts';

type SignatureDialogProps = {
  delivery: DeliveryDetails;
  request: ShownRequest | undefined;
  at: string;
  close(): void;
};

export function SignatureDialog({ delivery, request, at, close }: SignatureDialogProps) {
  const sent = request === undefined ? undefined : headerOf(request, 'webhook-timestamp');
  const [secret, setSecret] = useState('');
  const [timestamp, setTimestamp] = useState(sent ?? String(Math.floor(Date.parse(at) / 1_000)));
  const [signature, setSignature] = useState((request && headerOf(request, 'webhook-signature')) ?? '');
  const [body, setBody] = useState(request?.body ?? '');
  const computed = useComputed(secret, { id: delivery.id, timestamp, body });
  return (
    <Dialog title="Verify signature" isOpen close={close} size="lg">
      <div className="stack">
        <p className="dim">
          The browser computes it: the secret stays in this window. Compare with the header{' '}
          <code>webhook-signature</code> or <code>X-Signature</code> that your receiver got.
        </p>
        <PasswordInput
          label="Secret of the destination"
          placeholder="whsec_…"
          value={secret}
          autoComplete="off"
          data-autofocus
          onChange={(event) => setSecret(event.currentTarget.value)}
        />
        <TextInput
          label="Signature that your receiver got"
          value={signature}
          autoComplete="off"
          onChange={(event) => setSignature(event.currentTarget.value)}
        />
        <TextInput
          label="webhook-timestamp"
          value={timestamp}
          inputMode="numeric"
          onChange={(event) => setTimestamp(event.currentTarget.value.trim())}
        />
        <Textarea
          label="Body, byte for byte"
          rows={5}
          value={body}
          styles={{ input: { fontFamily: 'var(--mono)' } }}
          onChange={(event) => setBody(event.currentTarget.value)}
        />
        <Result computed={computed} signature={signature} secret={secret} />
      </div>
    </Dialog>
  );
}

type Computed = { standard: string; body: string } | 'cannot' | undefined;

function useComputed(secret: string, signed: { id: string; timestamp: string; body: string }): Computed {
  const [computed, setComputed] = useState<Computed>();
  const { id, timestamp, body } = signed;
  useEffect(() => {
    let isCurrent = true;
    if (secret === '') return undefined;
    const all = [standardSignature(secret, { id, timestamp, body }), bodySignature(secret, body)] as const;
    Promise.all(all).then(
      ([standard, older]) => isCurrent && setComputed({ standard, body: older }),
      () => isCurrent && setComputed('cannot'),
    );
    return () => {
      isCurrent = false;
    };
  }, [secret, id, timestamp, body]);
  return secret === '' ? undefined : computed;
}

const WORDS: Readonly<Record<Verdict, string>> = {
  standard: 'The signature matches webhook-signature.',
  body: 'The signature matches X-Signature.',
  none: 'The signature does not match.',
};

function Result({ computed, signature, secret }: { computed: Computed; signature: string; secret: string }) {
  if (secret === '' || computed === undefined) return null;
  if (computed === 'cannot') {
    return (
      <Note state="givenup" title="The browser cannot compute it.">
        It does so only over HTTPS or on localhost.
      </Note>
    );
  }
  const verdict = verdictOf(signature, computed);
  return (
    <>
      {signature !== '' && (
        <Note state={verdict === 'none' ? 'givenup' : 'delivered'} title={WORDS[verdict]}>
          {verdict === 'none' &&
            'Check the secret, the timestamp, and that the body is the bytes that came, not parsed again.'}
        </Note>
      )}
      <p className="small mono outer">
        webhook-signature: {computed.standard} <CopyButton text={computed.standard} label="Copy webhook-signature" />
        <br />
        X-Signature: {computed.body} <CopyButton text={computed.body} label="Copy X-Signature" />
      </p>
    </>
  );
}
