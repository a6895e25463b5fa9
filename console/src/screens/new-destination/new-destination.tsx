/** A new destination on one page: source, targets, secret, filter, then created disabled, tried, and enabled. */
import type { Destination, Source } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { type Page as ListPage, reading } from '../../api/queries.ts';
import { useMay, useSession } from '../../api/session.tsx';
import { collected } from '../../format/collected.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Empty, LoadingRows } from '../../parts/list-states.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Page } from '../../shell/page.tsx';
import { draftKey } from './use-wizard.ts';
import { Wizard } from './wizard.tsx';
import { createdDraft, freshDraft, keptDraft, readKept } from './wizard-draft.ts';

export function NewDestination() {
  return (
    <Page title="New destination" above={[{ name: 'Destinations', to: '/destinations' }]}>
      <Opening />
    </Page>
  );
}

/** The wizard starts from what is known: a destination that was created before, a kept draft, or nothing. */
function Opening(): ReactNode {
  const { id, sourceId } = useSearch({ from: '/shell/destinations/new' });
  const { workspace } = useSession();
  const mayWrite = useMay('destinations:write');
  const [startId] = useState(id);
  const [kept] = useState(() => readKept(sessionStorage.getItem(draftKey(workspace.id))));
  const saved = useQuery(
    reading<Destination>(`/destinations/${id ?? ''}`, { enabled: id !== undefined, every: 5_000 }),
  );
  const sources = useQuery(reading<ListPage<Source>>('/sources', { query: { limit: 100 } }));
  if (!mayWrite) {
    return (
      <Note title="Your role cannot make destinations.">
        It needs developer: ask an owner or admin of the workspace.
      </Note>
    );
  }
  const error =
    startId !== undefined && saved.data === undefined ? saved.error : sources.data === undefined ? sources.error : null;
  if (error !== null)
    return <ProblemNote error={error} what="The page cannot be shown." retry={() => void sources.refetch()} />;
  if (sources.data === undefined || (startId !== undefined && saved.data === undefined)) return <LoadingRows />;
  const offered = collected(sources.data.items);
  if (offered.length === 0) {
    return (
      <Empty
        title="A destination needs a source"
        action={
          <LinkButton look="ink" to="/sources/new">
            New source
          </LinkButton>
        }
      >
        A destination gets the events of one source, so make the source first.
      </Empty>
    );
  }
  const only = offered.length === 1 ? offered[0]?.id : undefined;
  const initial =
    startId !== undefined && saved.data !== undefined
      ? createdDraft(saved.data)
      : kept === undefined
        ? freshDraft(sourceId ?? only ?? '')
        : keptDraft(kept, sourceId);
  return (
    <Wizard
      initial={initial}
      isKept={startId !== undefined || kept !== undefined}
      sources={offered}
      saved={id === undefined ? undefined : saved.data}
    />
  );
}
