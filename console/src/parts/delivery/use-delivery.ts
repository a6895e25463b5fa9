import type { DeliveryDetails } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { reading } from '../../api/queries.ts';
import { mayChange } from './delivery-words.ts';

const LOOK_AGAIN_MS = 5_000;

/** Reads one delivery, again and again while a later look may show another state. Reads nothing without an id. */
export function useDelivery(id: string | undefined) {
  const [sentAgain, setSentAgain] = useState<string>();
  const read = useQuery({
    ...reading<DeliveryDetails>(`/deliveries/${encodeURIComponent(id ?? '')}`, { enabled: id !== undefined }),
    // The live tail links to deliveries that the record may not have yet, so also an unknown one is looked at again.
    refetchInterval: ({ state: { data } }) =>
      data === undefined || mayChange(data, sentAgain === id) ? LOOK_AGAIN_MS : false,
  });
  return { read, onSentAgain: () => setSentAgain(id) };
}
