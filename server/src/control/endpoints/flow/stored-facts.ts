import type { StoredFacts } from '@millrace/contract/control';
import type { DeliveryRow } from '../../../store/deliveries.ts';
import { findEvent } from '../../jobs/find-event.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';

/** An explanation comes from the record: it does not wait longer for NATS. */
const MAX_MS = 700;

/** How the event of a delivery was stored; null when NATS does not say in time. */
export async function readStoredFacts(
  { source_id: sourceId, message_id: messageId, received_at, is_erased }: DeliveryRow,
  { side, log }: Pick<ControlNeeds, 'side' | 'log'>,
): Promise<StoredFacts | null> {
  if (is_erased) return null;
  const receivedAt = received_at.getTime();
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(late.resolve, MAX_MS, undefined);
  try {
    const search = await Promise.race([
      findEvent(side.events, { sourceId, messageId, receivedAt }, MAX_MS),
      late.promise,
    ]);
    if (search?.kind !== 'found') return null;
    const { storedAt, request } = search;
    return { storedAt: new Date(storedAt).toISOString(), storeMs: Math.round(storedAt - receivedAt), request };
  } catch (error) {
    log.warn({ error: String(error) }, 'event.not_looked_up');
    return null;
  } finally {
    clearTimeout(timer);
  }
}
