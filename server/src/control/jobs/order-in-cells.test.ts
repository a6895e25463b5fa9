import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AcceptedEvent } from '@millrace/contract';
import { joinEventReaders } from '../../cells/join-event-readers.ts';
import { eventOrder, requestOrder } from '../../domain/delivery.ts';
import type { EventReader } from '../../stream/events/stored-events.ts';
import { findEvent } from './find-event.ts';
import { scanEvents } from './scan-events.ts';

const RECEIVED = '2026-01-01T00:00:00.000Z';
const EVENT = { type: 'track', event: 'Bought', messageId: 'm1', receivedAt: RECEIVED } as AcceptedEvent;

/** A cell with two event streams; the event is the seventh request of the second one, or nowhere. */
function cellWith(events: AcceptedEvent[]): () => EventReader {
  const request = { sequence: 7, storedAt: Date.parse(RECEIVED), bytes: 1, events, places: [0] };
  return () => ({
    streams: 2,
    ends: async () => ({ first: 1, last: 7 }),
    firstAt: async (stream) => (stream === 1 && events.length > 0 ? 7 : undefined),
    read: async ({ stream, from }) => (stream === 1 && from <= 7 ? [request] : []),
  });
}

suite('the order of an event in another cell', () => {
  test('is the one that deliver gave it, in replays and when it is found again', async () => {
    const reader = joinEventReaders([
      { name: 'main', reader: cellWith([]) },
      { name: 'eu', reader: cellWith([EVENT]) },
    ]);
    const order = eventOrder(requestOrder(RECEIVED, { stream: 1, sequence: 7 }), 0);
    const range = { sourceId: 's', destinationId: 'd', from: RECEIVED, to: '2026-01-02T00:00:00.000Z' };
    const { found } = await scanEvents(reader, { range, at: undefined, most: 10, isWanted: () => true });
    assert.deepEqual(
      found.map((each) => each.order),
      [order],
    );
    const again = await findEvent(reader, { sourceId: 's', messageId: 'm1', receivedAt: Date.parse(RECEIVED) });
    assert.equal(again.kind === 'found' && again.order, order);
  });
});
