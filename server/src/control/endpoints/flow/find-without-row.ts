import type { Explanation } from '@millrace/contract/control';
import { deliveryId } from '../../../domain/delivery.ts';
import type { DeliveryRow } from '../../../store/deliveries.ts';
import { destinationWays } from '../../../store/destinations.ts';
import type { Tx } from '../../../store/open-store.ts';
import { findPlain } from '../../../store/plain-deliveries.ts';

export type WithoutRow = Explanation['withoutRow'][number];

/** Deliveries of an event that succeeded at once and have no row: the ids that they would have are computed and looked for. */
export async function findWithoutRow(
  tx: Tx,
  workspaceId: string,
  { messageId, rows }: { messageId: string; rows: readonly DeliveryRow[] },
): Promise<WithoutRow[]> {
  const places = new Map(
    (await destinationWays(tx, workspaceId)).map((place) => [deliveryId(place.id, place.source_id, messageId), place]),
  );
  for (const { id } of rows) places.delete(id);
  const found = await findPlain(tx, workspaceId, [...places.keys()]);
  return found.map(({ id, delivered_at }) => {
    const place = places.get(id);
    return {
      deliveryId: id,
      destinationId: place?.id ?? '',
      destinationName: place?.name ?? null,
      deliveredAt: delivered_at.toISOString(),
    };
  });
}
