import type { Connection } from '@millrace/contract/control';
import { useChange } from '../../../api/queries.ts';
import { Button } from '../../../parts/button.tsx';
import { Card } from '../../../parts/card.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { ProblemNote } from '../../../parts/problem-note.tsx';
import { OuterText, TimeText } from '../../../parts/texts.tsx';
import { toast } from '../../../parts/toasts.tsx';

/** A proven domain leads people from their address to the provider. */
export function DomainsCard({ connection, mayWrite }: { connection: Connection; mayWrite: boolean }) {
  const { domains } = connection;
  const verify = useChange<string>({
    method: 'POST',
    path: '/single-sign-on/verify-domain',
    body: (domain) => ({ domain }),
    renews: ['/single-sign-on'],
  });
  if (domains.length === 0) return null;
  return (
    <Card title="Domains" aside={domains.length}>
      <div className="pad stack">
        <p className="small dim">
          When the TXT record of a domain is there, people who type such an address on the sign-in page come to your
          provider. Until then they use the sign-in link.
        </p>
        {verify.error !== null && <ProblemNote error={verify.error} what="The domain is not proven." />}
        {domains.map(({ domain, verifiedAt, record }) => (
          <div key={domain}>
            <b>
              <OuterText text={domain} />
            </b>{' '}
            {verifiedAt === null ? (
              'not proven yet'
            ) : (
              <>
                proven <TimeText at={verifiedAt} />
              </>
            )}
            <span className="sub mono">
              TXT <OuterText text={record.name} /> = <OuterText text={record.value} />{' '}
              <CopyButton text={record.value} label={`Copy the record of ${domain}`} />
            </span>
            {mayWrite && verifiedAt === null && (
              <Button
                small
                isBusy={verify.isPending && verify.variables === domain}
                onClick={() => verify.mutate(domain, { onSuccess: () => toast({ text: `${domain} is proven.` }) })}
              >
                Look for the record
              </Button>
            )}
          </div>
        ))}
      </div>
    </Card>
  );
}
