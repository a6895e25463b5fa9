import type { Token } from '@millrace/contract/control';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { readingPages, useChange } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Empty, ListStates, Older } from '../../parts/list-states.tsx';
import { StateText } from '../../parts/state-mark.tsx';
import { IdText, OuterText, TimeText } from '../../parts/texts.tsx';
import { ROLE_WORDS } from './roles.ts';

export function TokensTab({ names }: { names: ReadonlyMap<string, string> }) {
  const pages = useInfiniteQuery(readingPages<Token>('/tokens', { every: 30_000 }));
  const items = pages.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Card>
      <ListStates
        read={pages}
        failed="The tokens cannot be shown."
        isEmpty={items.length === 0}
        empty={
          <Empty title="No token yet">
            A token lets a script use the API of this workspace: for deployments, exports, alarms. It has a role, may be
            narrowed to some permissions, and may end by itself.
          </Empty>
        }
      >
        <table className="folds">
          <thead>
            <tr>
              <th>Token</th>
              <th>May</th>
              <th>Made by</th>
              <th>Last used</th>
              <th>Ends</th>
              <th>
                <span className="sr">Revoke</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {items.map((token) => (
              <Row token={token} maker={names.get(token.createdBy)} key={token.id} />
            ))}
          </tbody>
        </table>
        <Older pages={pages} />
      </ListStates>
    </Card>
  );
}

function Row({ token, maker }: { token: Token; maker: string | undefined }) {
  const mayWrite = useMay('tokens:write');
  const { name, hint, role, roleNow, scopes, createdBy, createdAt, endsWithMaker, expiresAt } = token;
  return (
    <tr>
      <td>
        <b>
          <OuterText text={name} most={60} />
        </b>
        <span className="sub mono">…{hint}</span>
      </td>
      <td title={ROLE_WORDS[role]}>
        {role}
        <span className="sub">{scopes === null ? 'all of this role' : `only ${scopes.join(', ')}`}</span>
        {roleNow === null && <StateText state="givenup">has ended</StateText>}
        {roleNow !== null && roleNow !== role && (
          <StateText state="retrying">acts as {roleNow}, as its maker does now</StateText>
        )}
      </td>
      <td data-label="By">
        <OuterText text={maker ?? createdBy} most={32} />
        <span className="sub">
          <TimeText at={createdAt} />
        </span>
        {!endsWithMaker && <StateText state="retrying">its maker is gone: still needed?</StateText>}
      </td>
      <td data-label="Last used">
        <LastUse token={token} />
      </td>
      <td data-label="Ends">{expiresAt === null ? <span className="dim">never</span> : <TimeText at={expiresAt} />}</td>
      <td className="num">{mayWrite && <RevokeButton token={token} />}</td>
    </tr>
  );
}

function LastUse({ token: { lastUsedAt, lastUsedAddress } }: { token: Token }) {
  if (lastUsedAt === null) return <span className="dim">never</span>;
  return (
    <>
      <TimeText at={lastUsedAt} />
      {lastUsedAddress !== null && (
        <span className="sub mono">
          <OuterText text={lastUsedAddress} most={40} />
        </span>
      )}
    </>
  );
}

function RevokeButton({ token: { id, name } }: { token: Token }) {
  const [isOpen, setIsOpen] = useState(false);
  const revoke = useChange({ method: 'DELETE', path: `/tokens/${id}`, renews: ['/tokens'] });
  return (
    <>
      <Button small onClick={() => setIsOpen(true)}>
        Revoke
      </Button>
      <Confirm
        title={
          <>
            Revoke <OuterText text={name} most={40} />?
          </>
        }
        verb="Revoke"
        typed={id}
        isOpen={isOpen}
        close={() => setIsOpen(false)}
        isBusy={revoke.isPending}
        error={revoke.error}
        confirm={() => revoke.mutate(undefined, { onSuccess: () => setIsOpen(false) })}
      >
        <p>
          Every script that uses it gets 401 at once, and every token that was made with it ends, too. Its id is{' '}
          <IdText id={id} />.
        </p>
      </Confirm>
    </>
  );
}
