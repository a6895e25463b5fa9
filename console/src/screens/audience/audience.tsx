/** One audience or computed trait: how many users, how it stands, whom it tells, and what changed. */
import type { Definition, Destination } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { readingDefinitions } from '../../api/definitions.ts';
import { lookAgain } from '../../api/look-again.ts';
import { type Page as Items, reading } from '../../api/queries.ts';
import { cutText, visible } from '../../format/texts.ts';
import { LoadingRows } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { RangeSwitch } from '../../parts/range-switch.tsx';
import { Page } from '../../shell/page.tsx';
import { AudienceLead } from './audience-lead.tsx';
import { ConditionCard } from './condition-card.tsx';
import { CurveCard } from './curve-card.tsx';
import { FactsCard } from './facts-card.tsx';
import { PeopleCard } from './people-card.tsx';
import { StateCard } from './state-card.tsx';
import { ToldCard } from './told-card.tsx';

const ABOVE = [{ name: 'Audiences', to: '/audiences' }] as const;
/** While it is on its way people watch; later the figures may be some seconds old. */
const WATCHED_MS = 1_000;
const SETTLED_MS = 5_000;

export function AudienceScreen() {
  const { id } = useParams({ from: '/shell/audiences/$id' });
  const read = useQuery({
    ...reading<Definition>(`/definitions/${encodeURIComponent(id)}`),
    placeholderData: () => undefined,
    refetchInterval: lookAgain<Definition>((data) => (data === undefined || isSettled(data) ? SETTLED_MS : WATCHED_MS)),
  });
  const definition = read.data;
  return (
    <Page title={cutText(visible(definition?.name ?? 'Audience'), 60)} above={ABOVE} right={<RangeSwitch />}>
      {read.error !== null && (
        <ProblemNote error={read.error} what="The audience cannot be shown." retry={() => void read.refetch()} />
      )}
      {definition === undefined ? read.error === null && <LoadingRows /> : <Shown definition={definition} />}
    </Page>
  );
}

function isSettled({ state, edit, firstSyncWaiting }: Definition): boolean {
  return state === 'live' && edit === null && firstSyncWaiting === 0;
}

function Shown({ definition }: { definition: Definition }) {
  const destinations = useQuery(reading<Items<Destination>>('/destinations', { query: { limit: 100 } }));
  const all = useQuery(readingDefinitions());
  const known = destinations.data?.items ?? [];
  const names = new Map((all.data?.items ?? []).map(({ id, name }) => [id, name]));
  return (
    <>
      <AudienceLead definition={definition} destinations={known} />
      <div className="cols mt2">
        <div className="stack">
          <CurveCard definition={definition} />
          <PeopleCard definition={definition} />
        </div>
        <div className="stack">
          <StateCard definition={definition} lagSeconds={all.data?.lagSeconds ?? null} />
          <ToldCard definition={definition} destinations={known} isKnown={destinations.data !== undefined} />
          <ConditionCard definition={definition} names={names} />
          <FactsCard definition={definition} />
        </div>
      </div>
    </>
  );
}
