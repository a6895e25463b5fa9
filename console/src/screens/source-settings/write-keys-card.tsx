import type { Source, WriteKey } from '@millrace/contract/control';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Empty } from '../../parts/list-states.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { NewKeyDialog } from './new-key-dialog.tsx';
import { RevokeDialog } from './revoke-dialog.tsx';
import styles from './source-settings.module.css';

type WriteKeysCardProps = { source: Source; mayWrite: boolean };

export function WriteKeysCard({ source, mayWrite }: WriteKeysCardProps) {
  const [isMaking, setIsMaking] = useState(false);
  const [revoked, setRevoked] = useState<WriteKey | undefined>();
  const add = mayWrite && <Button onClick={() => setIsMaking(true)}>New write key</Button>;
  return (
    <Card title="Write keys" aside="name the source in each call, and only let calls in" right={add}>
      {source.writeKeys.length === 0 ? (
        <Empty title="No write key" action={add}>
          Collect refuses every call without a known write key. Create one and put it into the code that sends calls.
        </Empty>
      ) : (
        <div className="tablewrap">
          <table className="folds">
            <thead>
              <tr>
                <th>Label</th>
                <th>Key</th>
                <th>Created</th>
                <th title="Millrace notes the use of a write key about once a minute">Last used</th>
                <th>
                  <span className="sr">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {source.writeKeys.map((key) => (
                <KeyRow key={key.id} writeKey={key} revoke={mayWrite ? () => setRevoked(key) : undefined} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {isMaking && <NewKeyDialog sourceId={source.id} close={() => setIsMaking(false)} />}
      {revoked !== undefined && (
        <RevokeDialog
          source={source}
          writeKey={revoked}
          close={() => setRevoked(undefined)}
          isLast={source.writeKeys.length === 1}
        />
      )}
    </Card>
  );
}

function KeyRow({ writeKey, revoke }: { writeKey: WriteKey; revoke: (() => void) | undefined }) {
  const { key, label, createdAt, lastUsedAt } = writeKey;
  return (
    <tr>
      <td>
        <b>
          <OuterText text={label} most={40} />
        </b>
      </td>
      <td>
        <span className={styles.key}>
          <code title={key}>{shortKey(key)}</code>
          <CopyButton text={key} label="Copy the write key" />
        </span>
      </td>
      <td data-label="created">
        <TimeText at={createdAt} />
      </td>
      <td data-label="last used">
        {lastUsedAt === null ? <span className="dim">never</span> : <TimeText at={lastUsedAt} withDistance />}
      </td>
      <td className={styles.act}>
        {revoke !== undefined && (
          <Button small onClick={revoke}>
            Revoke…
          </Button>
        )}
      </td>
    </tr>
  );
}

function shortKey(key: string): string {
  return key.length <= 24 ? key : `${key.slice(0, 10)}…${key.slice(-8)}`;
}
