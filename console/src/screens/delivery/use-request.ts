import type { DeliveryDetails, Destination, RebuiltRequest } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { reading } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { targetsOf } from '../../parts/destination/health/destination-facts.ts';
import { isOfAttempt, targetIndexOf } from './rebuilt.ts';
import type { Chosen } from './use-chosen.ts';

export type ReadRequest = {
  rebuilt: RebuiltRequest | undefined;
  error: Error | null;
  /** Why there can be none: the URL is no longer a target, or a later attempt has the same number. */
  missing?: 'target' | 'attempt';
};

/** The request of the chosen attempt to the chosen target, which Millrace rebuilds from the stored event. */
export function useRequest(
  delivery: DeliveryDetails,
  destination: Destination | undefined,
  chosen: Chosen | undefined,
): ReadRequest {
  const maySee = useMay('payloads:read');
  const targetIndex =
    destination === undefined ? undefined : targetIndexOf(targetsOf(destination), chosen?.answer?.url);
  const query = { attempt: chosen?.attempt.attempt ?? 1, targetIndex };
  const enabled = chosen !== undefined && targetIndex !== undefined && !delivery.isErased && maySee;
  const path = `/deliveries/${encodeURIComponent(delivery.id)}/request`;
  const options = reading<RebuiltRequest>(path, { query, enabled });
  // With the time in the key, an attempt of a replay does not get the answer for the earlier one with its number.
  const queryKey = [...options.queryKey, chosen?.attempt.at ?? ''];
  const { data, error, isPlaceholderData } = useQuery({ ...options, queryKey });
  if (destination !== undefined && targetIndex === undefined) {
    return { rebuilt: undefined, error: null, missing: 'target' };
  }
  if (data === undefined || isPlaceholderData || chosen === undefined) return { rebuilt: undefined, error };
  return isOfAttempt(data, chosen.attempt)
    ? { rebuilt: data, error }
    : { rebuilt: undefined, error, missing: 'attempt' };
}
