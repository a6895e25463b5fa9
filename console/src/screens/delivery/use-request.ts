import type { DeliveryDetails, Destination, RebuiltRequest } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { reading } from '../../api/queries.ts';
import { targetsOf } from '../../parts/destination/health/destination-facts.ts';
import type { Chosen } from './use-chosen.ts';

/** The request of the chosen attempt to the chosen target, which Millrace rebuilds from the stored event. */
export function useRequest(
  delivery: DeliveryDetails,
  destination: Destination | undefined,
  chosen: Chosen | undefined,
) {
  const url = chosen?.answer?.url;
  const found = destination === undefined ? -1 : targetsOf(destination).findIndex((target) => target.url === url);
  const query = { attempt: chosen?.attempt.attempt ?? 1, targetIndex: Math.max(0, found) };
  const enabled = chosen !== undefined && destination !== undefined && !delivery.isErased;
  return useQuery(
    reading<RebuiltRequest>(`/deliveries/${encodeURIComponent(delivery.id)}/request`, { query, enabled }),
  );
}
