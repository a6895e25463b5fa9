/** A page of one source: it reads the source, and shows the page when there is one. */
import type { Source } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { reading } from '../api/queries.ts';
import { cutText, visible } from '../format/texts.ts';
import { Page } from './page.tsx';
import { LinkButton } from '../parts/button.tsx';
import { LoadingRows } from '../parts/list-states.tsx';
import { ProblemNote } from '../parts/problem-note.tsx';
import { Sentence } from '../parts/sentence.tsx';

const LONGEST_TITLE = 60;

type SourceFrameProps = { id: string; children: (source: Source) => ReactNode };

export function SourceFrame({ id, children }: SourceFrameProps) {
  const source = useQuery({
    ...reading<Source>(`/sources/${encodeURIComponent(id)}`),
    // A change takes effect mostly within a second.
    refetchInterval: ({ state: { data } }) => (data?.projection.state === 'pending' ? 1_000 : 15_000),
  });
  // The answer before belongs to another source when the page changes from one to the next.
  const own = source.data?.id === id ? source.data : undefined;
  const title = own === undefined ? 'Source' : cutText(visible(own.name), LONGEST_TITLE);
  return (
    <Page title={title} above={ABOVE}>
      {source.error !== null && (
        <div className="stack">
          <ProblemNote
            error={source.error}
            what={own === undefined ? 'The source cannot be shown.' : 'The source cannot be read again.'}
            retry={() => void source.refetch()}
          />
          {own === undefined && (
            <div className="btns">
              <LinkButton to="/sources">All sources</LinkButton>
            </div>
          )}
        </div>
      )}
      {own !== undefined && (own.kind === 'computed' ? <ComputedSource id={own.id} /> : children(own))}
      {own === undefined && source.error === null && <LoadingRows />}
    </Page>
  );
}

/** It takes no calls: write keys, limits and a live tail would only mislead. */
function ComputedSource({ id }: { id: string }) {
  return (
    <Sentence
      then="Each of them goes to the destinations that its audience names, and to no others."
      actions={
        <>
          <LinkButton to="/events" search={{ sourceId: id }}>
            Stored events
          </LinkButton>
          <LinkButton look="ink" to="/audiences">
            Audiences
          </LinkButton>
        </>
      }
    >
      Millrace makes the calls of this source itself: identify calls for audiences and computed traits.
    </Sentence>
  );
}

const ABOVE = [{ name: 'Sources', to: '/sources' }] as const;
