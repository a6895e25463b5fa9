/** The journey of one event: which destinations have it, which do not, and the rule or answer that decided. */
import type { Destination, Explanation, Source } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { hasStatus } from '../../api/look-again.ts';
import { type Page as ListPage, reading } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { cutText, visible } from '../../format/texts.ts';
import { UserLink } from '../../parts/audience/user-link.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { WithoutPayloads } from '../../parts/without-payloads.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { Page } from '../../shell/page.tsx';
import { AlsoKnown } from './also-known.tsx';
import css from './event-journey.module.css';
import { JourneyPicture } from './journey-picture.tsx';
import { RefusedCalls, UnknownEvent } from './not-accepted.tsx';
import { replaySearch } from './replay-search.ts';
import { fieldsLookedAt } from './rules.ts';
import { StoredCallCard } from './stored-call.tsx';
import { type StoredItem, useStoredCall } from './use-stored-call.ts';
import { nextLookMs, verdictSentence } from './verdict.ts';

const ABOVE = [{ name: 'Events', to: '/events' as const }];

export function EventJourney() {
  const { messageId } = useParams({ from: '/shell/events/$messageId' });
  const read = useQuery({
    ...reading<Explanation>(`/events/${encodeURIComponent(messageId)}/explain`),
    placeholderData: () => undefined,
    refetchInterval: ({ state: { data, error, dataUpdateCount } }) =>
      hasStatus(error, 403, 404) ? false : nextLookMs(data, dataUpdateCount),
  });
  const name = read.data?.destinations[0]?.name ?? read.data?.destinations[0]?.type ?? 'Event';
  return (
    <Page title={`${cutText(visible(name), 60)} …${messageId.slice(-8)}`} above={ABOVE}>
      {read.error !== null && (
        <ProblemNote error={read.error} what="The journey cannot be shown." retry={() => void read.refetch()} />
      )}
      {read.isPending && <LoadingRows />}
      {read.data !== undefined && <Journey explanation={read.data} />}
    </Page>
  );
}

function Journey({ explanation }: { explanation: Explanation }) {
  const { sourceId: hinted } = useSearch({ from: '/shell/events/$messageId' });
  const sources = useQuery(reading<ListPage<Source>>('/sources', { query: { limit: 100 } }));
  const [first] = explanation.destinations;
  const sourceId = first?.sourceId;
  const destinations = useQuery(
    reading<ListPage<Destination>>('/destinations', {
      query: { limit: 100, sourceId },
      enabled: sourceId !== undefined,
    }),
  );
  const maySee = useMay('payloads:read');
  const everywhere = hinted === undefined ? (sources.data?.items ?? []).map(({ id }) => id) : [hinted];
  const stored = useStoredCall(
    explanation.verdict === 'refused' || !maySee
      ? undefined
      : {
          messageId: explanation.messageId,
          sourceIds: sourceId === undefined ? everywhere : [sourceId],
          receivedAt: first?.receivedAt,
        },
  );
  const item = stored.data?.item;
  const known = destinations.data?.items ?? [];
  return (
    <>
      <Verdict explanation={explanation} item={item} />
      {explanation.verdict === 'accepted' && (
        <JourneyPicture explanation={explanation} stored={item} sources={sources.data} destinations={known} />
      )}
      {explanation.verdict === 'refused' && <RefusedCalls refusals={explanation.refusals} sources={sources.data} />}
      {explanation.verdict === 'unknown' && <UnknownEvent story={explanation.story} isStored={item !== undefined} />}
      {(explanation.verdict === 'accepted' || item !== undefined) && (
        <div className={`${css.below} mt2`}>
          {maySee ? (
            <StoredCallCard read={stored} marked={fieldsLookedAt(known)} isErased={first?.isErased ?? false} />
          ) : (
            <WithoutPayloads what="The stored call is" />
          )}
          <AlsoKnown explanation={explanation} item={item} />
        </div>
      )}
    </>
  );
}

function Verdict({ explanation, item }: { explanation: Explanation; item: StoredItem | undefined }) {
  const mayReplay = useMay('replays:write');
  const { verdict, destinations, withoutRow, messageId } = explanation;
  const [first] = destinations;
  const actions = (
    <>
      <CopyButton text={location.href}>Copy link</CopyButton>
      {mayReplay && item !== undefined && (
        <LinkButton to="/replays/new" search={replaySearch(item, destinations)}>
          <Icon name="replay" />
          Replay this event…
        </LinkButton>
      )}
    </>
  );
  if (verdict === 'refused')
    return (
      <Sentence state={{ name: 'refused', words: 'Refused.' }} actions={actions}>
        Millrace did not accept the call, so no destination gets it.
      </Sentence>
    );
  if (verdict === 'unknown')
    return (
      <Sentence actions={actions} then={<Sought messageId={messageId} />}>
        {item === undefined
          ? 'Millrace has no record of this event.'
          : 'Millrace stored this event, and no destination was to get it.'}
      </Sentence>
    );
  return (
    <Sentence actions={actions} then={first !== undefined && <Received part={first} />}>
      <OuterText text={verdictSentence(destinations, withoutRow)} most={600} />
    </Sentence>
  );
}

function Sought({ messageId }: { messageId: string }): ReactNode {
  return (
    <>
      It looked for the messageId <OuterText text={messageId} most={200} /> in the record of deliveries and among the
      samples of refused calls.
    </>
  );
}

function Received({ part }: { part: Explanation['destinations'][number] }) {
  return (
    <>
      <OuterText text={part.name ?? part.type} />
      {part.userId !== null && (
        <>
          {' of '}
          <UserLink userId={part.userId} most={40} />
        </>
      )}
      , received <TimeText at={part.receivedAt} withDistance />.
    </>
  );
}
