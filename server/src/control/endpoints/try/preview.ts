import { type AcceptedEvent, ruleText, webhookBody } from '@millrace/contract';
import { DestinationPreview, PreviewDestination } from '@millrace/contract/control';
import type { DestinationConfig } from '../../../domain/configuration.ts';
import { type Routed, routeEvent } from '../../../domain/route-event.ts';
import { skipSentence } from '../../../record/tell-story.ts';
import { findSource } from '../../../store/sources.ts';
import { sourcesToProject } from '../../../store/projection.ts';
import { askEngine } from '../../http/ask-engine.ts';
import { engineRoute, type Route } from '../../http/route.ts';
import { readErased } from '../../jobs/hide-erased.ts';
import { type LatestEvents, latestEvents } from '../../jobs/latest-events.ts';
import { type Marks, routingFor } from '../../jobs/replay-routing.ts';
import { found } from '../../problems/problems.ts';
import { checkedFilters } from '../../settings/destination-filters.ts';
import { entryNamed } from '../../settings/entry-named.ts';
import { eventName } from '../../../domain/event-name.ts';

/** A person waits for the preview. */
const PREVIEW_MS = 7_000;
const SHOWN = 20;

export const previewRoutes: Route[] = [
  engineRoute({
    method: 'POST',
    url: '/api/v1/destinations/preview',
    summary: 'Preview of filters on the last stored events: which of them a destination would get; sends nothing',
    body: PreviewDestination,
    answer: DestinationPreview,
    status: 200,
    permission: 'destinations:read',
    alsoNeeds: 'sources:read',
    payloads: {},
    async ask({ actor, body, inWorkspace }, { side, catalog, now }) {
      const { workspaceId } = actor;
      const { sourceId, last: most = 100, settings = {} } = body;
      const entry = entryNamed(catalog, body.catalog ?? 'Webhooks');
      const filters = checkedFilters(body.filters ?? []);
      const destination: DestinationConfig = {
        id: 'dst_preview',
        workspaceId,
        sourceId,
        catalog: entry.name,
        name: entry.name,
        enabled: true,
        ...(filters.length > 0 && { filters }),
        settings: {},
        updatedAt: now().toISOString(),
      };
      found(await inWorkspace((tx) => findSource(tx, workspaceId, sourceId)));
      const looked = await askEngine(latestEvents(side.events, { sourceId, most, maxMs: PREVIEW_MS }));
      const marks: Marks = { read: (tx) => readErased(tx, workspaceId, looked.events) };
      const routing = await inWorkspace(async (tx) => {
        const [source] = await sourcesToProject(tx, [sourceId]);
        return routingFor(tx, { source: found(source), destination, catalog, marks });
      });
      const { bodyFormat = 'documented' } = settings;
      const tally = openTally((event) => webhookBody(event, bodyFormat));
      for (const event of looked.events) for (const routed of routeEvent(event, routing)) tally.add(event, routed);
      return { looked: lookedAt(looked), ...tally.result() };
    },
  }),
];

type Skip = DestinationPreview['skipped']['by'][number];
/** Nothing of these is shown: their users asked to be forgotten. */
const WITHHELD = new Set(['erased', 'suppressed']);

function openTally(bodyOf: (event: AcceptedEvent) => string) {
  const delivered: DestinationPreview['delivered'] = { count: 0, first: [] };
  const skipped: DestinationPreview['skipped'] = { count: 0, by: [], first: [] };
  const groups = new Map<string, Skip>();
  const summary = (event: AcceptedEvent) => ({
    messageId: event.messageId,
    type: event.type,
    name: eventName(event) ?? null,
    userId: event.userId ?? null,
    receivedAt: event.receivedAt,
    body: bodyOf(event),
  });
  const group = (event: AcceptedEvent, routed: Extract<Routed, { kind: 'skip' }>): Skip => {
    const rule = routed.rule === undefined ? null : ruleText(routed.rule);
    // In words that hold for the one event and for all that were kept back by the same rule.
    const about = { reason: routed.reason, rule, type: event.type, name: eventName(event) ?? null };
    const sentence = skipSentence(about);
    const known = groups.get(sentence);
    if (known !== undefined) return known;
    const made = { reason: routed.reason, rule, sentence, count: 0 };
    groups.set(sentence, made);
    skipped.by.push(made);
    return made;
  };
  return {
    add(event: AcceptedEvent, routed: Routed): void {
      if (routed.kind !== 'skip') {
        delivered.count += 1;
        if (delivered.first.length < SHOWN) delivered.first.push(summary(event));
        return;
      }
      const skip = group(event, routed);
      skip.count += 1;
      skipped.count += 1;
      if (skipped.first.length >= SHOWN || WITHHELD.has(routed.reason)) return;
      const { count: _, ...why } = skip;
      skipped.first.push({ ...summary(event), ...why });
    },
    result: () => ({ delivered, skipped }),
  };
}

const ENDS: Readonly<Record<LatestEvents['endedBy'], string>> = {
  all: 'These are all that are stored.',
  last: 'Older ones were not looked at.',
  time: 'There was no time to look further.',
  size: 'They are so large that older ones were not looked at.',
};

function lookedAt({ events, endedBy }: LatestEvents): DestinationPreview['looked'] {
  const times = events.map(({ receivedAt }) => receivedAt).toSorted();
  const [from = null, to = null] = [times[0], times.at(-1)];
  const count = events.length;
  const range = from === null || to === null ? '' : `, received from ${from} to ${to}`;
  const what = count === 1 ? 'Looked at the last stored event' : `Looked at the last ${count} stored events`;
  const sentence =
    count === 0 && endedBy === 'all' ? 'The source has no stored events.' : `${what}${range}. ${ENDS[endedBy]}`;
  return { events: count, from, to, endedBy, sentence };
}
