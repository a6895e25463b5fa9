/** Building an audience or a computed trait, and editing one. */
import type { Definition, Destination, Source } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { readingDefinitions } from '../../api/definitions.ts';
import { type Page as Items, reading } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { collected } from '../../format/collected.ts';
import { cutText, visible } from '../../format/texts.ts';
import { type Crumb, Page } from '../../shell/page.tsx';
import { Builder } from './builder.tsx';

const ABOVE: Crumb[] = [{ name: 'Audiences', to: '/audiences' }];

export function NewAudience() {
  return (
    <Page title="New" above={ABOVE}>
      <Prepared />
    </Page>
  );
}

export function EditAudience() {
  const { id } = useParams({ from: '/shell/audiences/$id/edit' });
  const read = useQuery({
    ...reading<Definition>(`/definitions/${encodeURIComponent(id)}`),
    placeholderData: () => undefined,
  });
  const above = [
    ...ABOVE,
    { name: cutText(visible(read.data?.name ?? 'Audience'), 60), to: '/audiences/$id' as const, params: { id } },
  ];
  return (
    <Page title="Edit" above={above}>
      {read.error !== null && (
        <ProblemNote error={read.error} what="It cannot be shown." retry={() => void read.refetch()} />
      )}
      {read.data === undefined ? read.error === null && <LoadingRows /> : <Prepared saved={read.data} />}
    </Page>
  );
}

/** The form begins when everything is there that it offers: a choice that comes later would move it. */
function Prepared({ saved }: { saved?: Definition }) {
  const may = useMay('audiences:write');
  const sources = useQuery(reading<Items<Source>>('/sources', { query: { limit: 100 }, enabled: may }));
  const destinations = useQuery(reading<Items<Destination>>('/destinations', { query: { limit: 100 }, enabled: may }));
  const definitions = useQuery(readingDefinitions({ enabled: may }));
  if (!may)
    return (
      <Note title="This needs the role developer.">
        Audiences decide what destinations are told about people. Ask a developer, an admin or the owner.
      </Note>
    );
  const error = sources.error ?? destinations.error ?? definitions.error;
  if (error !== null) return <ProblemNote error={error} what="The builder cannot be shown." />;
  if (sources.data === undefined || destinations.data === undefined || definitions.data === undefined)
    return <LoadingRows />;
  return (
    <Builder
      key={saved?.id ?? 'new'}
      sources={collected(sources.data.items)}
      destinations={destinations.data.items}
      definitions={definitions.data.items}
      {...(saved === undefined ? {} : { saved })}
    />
  );
}
