/** The stored events that a preview needs, given to the profiles that they belong to. */
import { isCountedBy } from '../../../compute/fold/backfill.ts';
import type { SourceEvent } from '../../../compute/fold/incoming-event.ts';
import { idsOf } from '../../../compute/fold/resolve-identity.ts';
import type { ProfileKey } from '../../../compute/profiles/profile-key.ts';
import { targetsOf } from '../../../store/compute/read-profiles.ts';
import type { EventReader } from '../../../stream/events/stored-events.ts';
import { askEngine } from '../../http/ask-engine.ts';
import type { EngineRequest } from '../../http/route.ts';
import { readShown } from '../../jobs/hide-erased.ts';
import type { Candidate } from './candidate.ts';
import { type EventScan, scanEventsBack } from './scan-events.ts';

export type PastEvents = {
  byProfile: Map<ProfileKey, SourceEvent[]>;
  /** Events before this time were not looked at; undefined: none of those that count is missing. */
  from: number | undefined;
};

export type PreviewSources = { workspaceId: string; sourceIds: readonly string[] };
export type PreviewRequest = Pick<EngineRequest, 'inWorkspace'>;

/** A person waits. */
const BOUNDS = { maxMs: 500, maxRequests: 2_000, most: 20_000 };

/** For the measures that neither states nor tiles know. */
export async function readPast(
  candidate: Candidate,
  { workspaceId, sourceIds }: PreviewSources,
  { inWorkspace, reader }: PreviewRequest & { reader: EventReader },
): Promise<PastEvents> {
  const { plan, eventSlots } = candidate;
  if (eventSlots.size === 0) return { byProfile: new Map(), from: undefined };
  const isWanted: EventScan['isWanted'] = (event, sourceId) =>
    isCountedBy({ workspaceId, sourceId, event }, plan, eventSlots);
  const scanned = await askEngine(
    scanEventsBack(reader, { workspaceId, sourceIds, since: candidate.oldestNeeded, isWanted, ...BOUNDS }),
  );
  const events = await withoutErased(scanned.events, { workspaceId, inWorkspace });
  return { byProfile: await givenToProfiles(events, { workspaceId, inWorkspace }), from: scanned.from };
}

type Asking = { workspaceId: string } & PreviewRequest;

export async function withoutErased(events: readonly SourceEvent[], asking: Asking): Promise<SourceEvent[]> {
  const { workspaceId, inWorkspace } = asking;
  const shown: SourceEvent[] = [];
  for (const [sourceId, own] of Map.groupBy(events, (each) => each.sourceId)) {
    const all = own.map(({ event }) => event);
    const isShown = await inWorkspace((tx) => readShown(tx, { workspaceId, sourceId }, all));
    shown.push(...own.filter(({ event }) => isShown(event)));
  }
  return shown;
}

/** By the id that they came with, or the profile that it stands for. */
async function givenToProfiles(
  events: readonly SourceEvent[],
  { workspaceId, inWorkspace }: Asking,
): Promise<Map<ProfileKey, SourceEvent[]>> {
  const keyOf = ({ event }: SourceEvent) => {
    const { user, anonymous } = idsOf(event, workspaceId);
    return (user ?? anonymous)?.key ?? '';
  };
  const byKey = Map.groupBy(events, keyOf);
  byKey.delete('');
  const targets = await inWorkspace((tx) => targetsOf(tx, [...byKey.keys()]));
  const byProfile = new Map<ProfileKey, SourceEvent[]>();
  for (const [key, own] of byKey) {
    const target = targets.get(key);
    if (target !== undefined) byProfile.set(target, [...(byProfile.get(target) ?? []), ...own]);
  }
  return byProfile;
}
