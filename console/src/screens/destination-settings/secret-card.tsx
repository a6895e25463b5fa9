/** The secret of a destination: rotated with an overlap, shown once. */
import type { Destination } from '@millrace/contract/control';
import { lazy, Suspense, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { makeSecret } from '../../parts/destination/secret/secret.ts';
import { ShownSecret } from '../../parts/destination/secret/shown-secret.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { Note } from '../../parts/note.tsx';
import { TimeText } from '../../parts/texts.tsx';
import { RotateDialog, type Rotated } from './rotate-dialog.tsx';

const VerifySnippets = lazy(async () => ({
  default: (await import('../../parts/destination/secret/verify-snippets.tsx')).VerifySnippets,
}));

type SecretCardProps = { destination: Destination; url: string };

export function SecretCard({ destination, url }: SecretCardProps) {
  const [made, setMade] = useState<string | undefined>();
  const [rotated, setRotated] = useState<Rotated | undefined>();
  const [showsHow, setShowsHow] = useState(false);
  const hasOne = destination.settings.sharedSecret !== undefined;
  return (
    <Card title="Secret">
      <div className="pad stack">
        <p className="soft">
          {hasOne
            ? 'It signs each request. It is stored sealed and cannot be shown.'
            : 'There is none, so nothing is signed: anybody who knows a URL can send its receiver events.'}
        </p>
        {rotated !== undefined && <RotatedNote rotated={rotated} />}
        <div className="btns">
          <Button onClick={() => setMade(makeSecret())}>{hasOne ? 'Rotate the secret' : 'Set a secret'}</Button>
          <Button look="quiet" aria-expanded={showsHow} onClick={() => setShowsHow(!showsHow)}>
            How a receiver verifies
          </Button>
        </div>
        {showsHow && (
          <Suspense fallback={<LoadingRows rows={4} />}>
            <VerifySnippets url={url} />
          </Suspense>
        )}
      </div>
      {made !== undefined && (
        <RotateDialog
          id={destination.id}
          hasOne={hasOne}
          made={made}
          close={() => setMade(undefined)}
          done={(next) => {
            setRotated(next);
            setMade(undefined);
          }}
        />
      )}
    </Card>
  );
}

function RotatedNote({ rotated }: { rotated: Rotated }) {
  return (
    <Note state="delivered" title="The new secret signs from now on.">
      {rotated.previousValidUntil === null ? (
        'No other secret signs.'
      ) : (
        <>
          Until <TimeText at={rotated.previousValidUntil} withDistance /> webhook-signature holds a signature with the
          previous one, too.
        </>
      )}
      {rotated.secret !== '' && (
        <>
          <p className="small dim">It is shown until you leave this page, and never again.</p>
          <ShownSecret secret={rotated.secret} />
        </>
      )}
    </Note>
  );
}
