import type { AcceptedEvent } from '@millrace/contract';
import { SourceSchema } from '@millrace/contract/control';
import { openBreather } from '../../../breathe.ts';
import type { Tx } from '../../../store/open-store.ts';
import { type SourceEventRow, sourceEventsNamed } from '../../../store/source-events.ts';
import { findSource } from '../../../store/sources.ts';
import { askEngine } from '../../http/ask-engine.ts';
import { engineRoute, type Route } from '../../http/route.ts';
import { readShown } from '../../jobs/hide-erased.ts';
import { latestEvents } from '../../jobs/latest-events.ts';
import { found } from '../../problems/problems.ts';
import { type GatheredKind, openGatherer } from './gather-schema.ts';

/** The latest events of the source: enough to see what it sends now. */
const MAX_EVENTS = 1_000;
const MAX_MS = 1_500;
/** Names that are shown. Any holder of a write key can make up more. */
const MAX_ITEMS = 500;

export const sourceSchemaRoutes: Route[] = [
  engineRoute({
    method: 'GET',
    url: '/api/v1/sources/:id/schema',
    summary: 'The names of the latest stored events of a source, with properties, types and samples',
    answer: SourceSchema,
    permission: 'sources:read',
    payloads: { hide: withoutSamples },
    status: 200,
    async ask({ actor, params, inWorkspace }, { side, now }) {
      const { workspaceId } = actor;
      const at = now();
      const { id: sourceId } = found(await inWorkspace((tx) => findSource(tx, workspaceId, params.id)));
      const latest = await askEngine(latestEvents(side.events, { sourceId, most: MAX_EVENTS, maxMs: MAX_MS }));
      const { kinds, rows } = await inWorkspace(async (tx) => {
        const isShown = await readShown(tx, { workspaceId, sourceId }, latest.events);
        const gathered = await gather(latest.events.filter(isShown));
        return { kinds: gathered, rows: await rowsFor(tx, { workspaceId, sourceId }, gathered) };
      });
      const items = [...kinds.map((kind) => toItem(kind, rows)), ...blockedItems(kinds, rows)];
      return {
        lookedAt: { requests: latest.requests, events: latest.events.length },
        from: new Date(latest.oldestAt ?? at).toISOString(),
        to: at.toISOString(),
        isComplete: latest.endedBy === 'all',
        items: items.slice(0, MAX_ITEMS),
        itemsLeftOut: Math.max(0, items.length - MAX_ITEMS),
      };
    },
  }),
];

function withoutSamples({ items, ...rest }: SourceSchema): SourceSchema {
  const bare = items.map((item) => ({
    ...item,
    properties: item.properties.map((property) => ({ ...property, samples: [] })),
  }));
  return { ...rest, items: bare };
}

async function gather(events: readonly AcceptedEvent[]): Promise<GatheredKind[]> {
  const gatherer = openGatherer();
  const breathe = openBreather();
  for (const event of events) {
    gatherer.add(event);
    await breathe();
  }
  return gatherer.gathered();
}

type Rows = ReadonlyMap<string, SourceEventRow>;

/** Reads the rows of these names of track events, and of all blocked ones. */
async function rowsFor(tx: Tx, of: { workspaceId: string; sourceId: string }, kinds: GatheredKind[]): Promise<Rows> {
  const names = kinds.flatMap(({ type, name }) => (type === 'track' && name !== null ? [name] : []));
  return new Map((await sourceEventsNamed(tx, of, names)).map((row) => [row.name, row]));
}

function toItem({ lastAt, ...kind }: GatheredKind, rows: Rows): SourceSchema['items'][number] {
  const row = kind.type === 'track' ? rows.get(kind.name ?? '') : undefined;
  const seenAt = row?.last_seen_at?.toISOString() ?? '';
  const lastSeenAt = seenAt > lastAt ? seenAt : lastAt;
  return {
    ...kind,
    blocked: row?.blocked ?? false,
    firstSeenAt: row?.first_seen_at?.toISOString() ?? null,
    lastSeenAt,
  };
}

function blockedItems(kinds: GatheredKind[], rows: Rows): SourceSchema['items'] {
  const shown = new Set(kinds.filter(({ type }) => type === 'track').map(({ name }) => name));
  const unseen = [...rows.values()].filter(({ blocked, name }) => blocked && !shown.has(name));
  return unseen.map(({ name, blocked, first_seen_at: firstSeenAt, last_seen_at: lastSeenAt }) => ({
    type: 'track',
    name,
    count: 0,
    blocked,
    firstSeenAt: firstSeenAt?.toISOString() ?? null,
    lastSeenAt: lastSeenAt?.toISOString() ?? null,
    properties: [],
    hasMore: false,
  }));
}
