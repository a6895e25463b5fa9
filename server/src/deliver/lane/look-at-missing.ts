import type { Lanes } from '../../stream/deliveries/lanes.ts';
import type { HeldTicket } from '../../stream/deliveries/tickets.ts';
import { drainSome, type SliceNeeds } from './drain-slice.ts';
import { forgetEmptyPlaces, type LaneNote, moveHome, notePosition } from './lane-note.ts';
import { LEAST_PAUSE_MS, LEFT_FOR_MS, openReaders, SLICE_MS } from './lane-readers.ts';
import { isErasedIn } from './scrub-lane.ts';
import type { Settlement } from '../settle/settle.ts';
import { deletedWebhook } from '../attempt/webhook.ts';
import type { DeliverConfig } from '../../stream/config/config-bucket.ts';
import type { Logger } from '../../log.ts';

export type MissingNeeds = Omit<SliceNeeds, keyof Own> & {
  config: DeliverConfig;
  lanes: Lanes;
  abandon: Settlement['abandon'];
  close(): Promise<undefined>;
  log: Logger;
};
type Own = Pick<SliceNeeds, 'webhook' | 'readers' | 'mode' | 'untilAt' | 'isErased' | 'skipOf' | 'passed'>;

/** A destination that is not in our copy of the configuration may be newer than the copy: a minute, by the usual schedule. */
const MISSING_PART = 240;

/**
 * The destination was deleted: each delivery that waits is given up, and the record hears of it, before it leaves the lane. A
 * long lane takes several looks, each as long as any, so that others have their turn. Resolves with the time of the next look.
 */
export async function lookAtMissing(
  { destinationId }: HeldTicket,
  note: LaneNote,
  needs: MissingNeeds,
): Promise<number | undefined> {
  const { config, lanes, now, uptimeMs, log } = needs;
  note.missingSince ??= now();
  const giveUpAt = note.missingSince + needs.schedule.windowMs / MISSING_PART;
  if (now() < giveUpAt) return giveUpAt;
  const counts = await lanes.count(destinationId);
  if (counts.size === 0) return needs.close();
  moveHome(note, lanes.home(destinationId), lanes.isOnlyHome(destinationId));
  forgetEmptyPlaces(note, counts);
  const owner = config.formerOwner(destinationId) ?? note.owner ?? UNKNOWN_OWNER;
  const webhook = deletedWebhook(destinationId, owner);
  const readers = openReaders(destinationId, note, { ...needs, counts });
  try {
    const { left, newer } = await drainSome({
      ...needs,
      isErased: isErasedIn(config, webhook),
      skipOf: () => undefined,
      webhook: () => (config.destination(destinationId) === undefined ? webhook : undefined),
      readers,
      mode: 'expire',
      // The time of all of them is over.
      schedule: { ...needs.schedule, windowMs: -Infinity },
      expire: needs.abandon,
      untilAt: uptimeMs() + SLICE_MS,
      passed: async () => undefined,
    });
    for (const reader of readers) await reader.drop();
    log.info({ destinationId, deliveries: left }, 'lane.destination_deleted');
    const isEmpty = (await lanes.count(destinationId)).size === 0;
    if (isEmpty) return await needs.close();
    return now() + (newer.size > 0 ? LEFT_FOR_MS : LEAST_PAUSE_MS);
  } finally {
    for (const reader of readers) notePosition(note, reader.tier, { ...reader.position(), at: reader.stamp() });
  }
}

/** The recorder finds the owner by the delivery itself. */
const UNKNOWN_OWNER = { workspaceId: '', sourceId: '' };
