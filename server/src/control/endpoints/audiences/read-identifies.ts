/** The identify calls that told of a profile's changes: found by their ids, which follow from definition, profile and sequence. */
import type { MembershipExplanation } from '@millrace/contract/control';
import { messageIdOf } from '../../../compute/profiles/message-id.ts';
import { anonymousName, userHash } from '../../../domain/withheld.ts';
import type { KnownDefinition } from '../../../store/definitions/definition-views.ts';
import type { MembershipChange } from '../../../store/compute/memberships.ts';
import { type WaitingTransition, waitingOf } from '../../../store/compute/memberships.ts';
import type { LinkedProfile } from '../../../store/compute/read-profiles.ts';
import { deliveriesOfMessages, type DeliveryRow } from '../../../store/deliveries.ts';
import { lastErasures } from '../../../store/erased-users.ts';
import type { Tx } from '../../../store/open-store.ts';

export type ToldCall = MembershipExplanation['identifies'][number];
type Told = {
  workspaceId: string;
  profile: LinkedProfile;
  known: KnownDefinition;
  changes: readonly MembershipChange[];
};

/** A change that was told together with a later one has no call of its own. */
export async function readIdentifies(tx: Tx, { workspaceId, profile, known, changes }: Told): Promise<ToldCall[]> {
  const erasedAt = await lastErasure(tx, workspaceId, profile);
  const waiting = new Map((await waitingOf(tx, profile.key, known.number)).map((each) => [each.sequence, each]));
  const named = changes.map(({ sequence, value }) => ({
    messageId: messageIdOf({ definitionId: known.id, key: profile.key, sequence, erasedAt }),
    sequence,
    value,
  }));
  const rows = await deliveriesOfMessages(
    tx,
    workspaceId,
    named.map(({ messageId }) => messageId),
  );
  return named
    .map((each) => toIdentify(each, waiting.get(each.sequence), rows))
    .filter(({ isWaiting, deliveries }) => isWaiting || deliveries.length > 0);
}

function toIdentify(
  named: Pick<ToldCall, 'messageId' | 'sequence' | 'value'>,
  waiting: WaitingTransition | undefined,
  rows: readonly DeliveryRow[],
): ToldCall {
  const deliveries = rows
    .filter((row) => row.message_id === named.messageId)
    .map((row) => ({
      deliveryId: row.id,
      destinationId: row.destination_id,
      state: row.state,
      changedAt: row.changed_at.toISOString(),
    }));
  return { ...named, isWaiting: waiting !== undefined, deliveries };
}

async function lastErasure(tx: Tx, workspaceId: string, { kind, id }: LinkedProfile): Promise<number | undefined> {
  const hash = userHash(workspaceId, kind === 'user' ? id : anonymousName(id));
  return (await lastErasures(tx, [hash])).get(hash);
}
