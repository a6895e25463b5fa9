import { openBreather } from '../../../breathe.ts';
import { readBatch } from '../../../compute/fold/fold-batch.ts';
import type { ProfileKey } from '../../../compute/profiles/profile-key.ts';
import type { LinkTarget, StoredProfile } from '../../../compute/profiles/profile-store.ts';
import type { EventReader } from '../../../stream/events/stored-events.ts';
import { askEngine } from '../../http/ask-engine.ts';
import type { Candidate } from './candidate.ts';
import { type PreviewSources, type PreviewRequest, withoutErased } from './preview-events.ts';
import { scanEventsBack } from './scan-events.ts';

/** A person waits. */
const BOUNDS = { maxMs: 700, maxRequests: 2_000, most: 20_000 };
const BATCH = 200;

/** The profiles that compute would make of the stored events of these sources; they are held in memory and nowhere else. */
export async function foldedFromEvents(
  candidate: Candidate,
  { workspaceId, sourceIds }: PreviewSources,
  { inWorkspace, reader }: PreviewRequest & { reader: EventReader },
): Promise<{ profiles: StoredProfile[]; from: number | undefined }> {
  const { plan, oldestNeeded: since } = candidate;
  const isWanted = () => true;
  const scanned = await askEngine(scanEventsBack(reader, { workspaceId, sourceIds, since, isWanted, ...BOUNDS }));
  const events = (await withoutErased(scanned.events, { workspaceId, inWorkspace })).toReversed();
  const profiles = new Map<ProfileKey, StoredProfile>();
  const links = new Map<ProfileKey, LinkTarget>();
  const breathe = openBreather();
  for (let at = 0; at < events.length; at += BATCH) {
    const folded = readBatch(events.slice(at, at + BATCH), () => plan).fold({ links, profiles });
    for (const { from, to } of folded.links) {
      links.set(from, to);
      profiles.delete(from);
    }
    for (const profile of folded.profiles) profiles.set(profile.key, profile);
    await breathe();
  }
  return { profiles: [...profiles.values()], from: scanned.from };
}
