import type { Destination } from '@millrace/contract/control';
import { lazy, Suspense } from 'react';
import { Card } from '../../parts/card.tsx';
import { SecretChooser, type SecretMode } from '../../parts/destination/secret/secret-chooser.tsx';
import { ShownSecret } from '../../parts/destination/secret/shown-secret.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import type { WizardDraft } from './wizard-draft.ts';

const VerifySnippets = lazy(async () => ({
  default: (await import('../../parts/destination/secret/verify-snippets.tsx')).VerifySnippets,
}));

type SecretStepProps = {
  draft: WizardDraft;
  secret: string;
  saved: Destination | undefined;
  change(mode: SecretMode, secret: string): void;
};

export function SecretStep({ draft, secret, saved, change }: SecretStepProps) {
  return (
    <Card title="3. Secret" aside="signs each request, so that your receiver knows it is from Millrace">
      <div className="pad stack">
        {saved === undefined ? (
          <SecretChooser mode={draft.secretMode} secret={secret} change={change} />
        ) : (
          <StoredSecret
            secret={draft.secretMode === 'made' ? secret : ''}
            hasOne={saved.settings.sharedSecret !== undefined}
          />
        )}
        <Suspense fallback={<LoadingRows rows={4} />}>
          <VerifySnippets url={draft.targets[0]?.url ?? ''} />
        </Suspense>
      </div>
    </Card>
  );
}

/** The page shows a secret that it made until it is left. */
function StoredSecret({ secret, hasOne }: { secret: string; hasOne: boolean }) {
  if (!hasOne) return <p className="soft">It has no secret, so nothing is signed. Its settings can give it one.</p>;
  if (secret === '') {
    return <p className="soft">The secret is stored and cannot be shown again. Its settings can rotate it.</p>;
  }
  return (
    <>
      <ShownSecret secret={secret} />
      <p className="small dim">Stored. It is shown until you leave this page, and never again.</p>
    </>
  );
}
