import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openBed } from '../../testing/deliver-bed.ts';
import { encodeDeliveries, newDelivery } from '../domain/delivery.ts';
import type { DeliverySide } from '../stream/open-delivery-side.ts';
import { answer, openReceiver, type Received } from '../../testing/receiver.ts';
import { EVENT, track } from '../../testing/samples.ts';
import { until } from '../../testing/until.ts';

const eventOf = ({ body }: Received) => (JSON.parse(body) as { event: string }).event;

async function park(side: DeliverySide, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const delivery = newDelivery(`dlv_${name}`, { ...EVENT, event: name, messageId: name }, side.now());
    const payload = encodeDeliveries([JSON.stringify(delivery)]);
    assert.equal(await side.lanes.append({ destinationId: 'dst_1', tier: 0 }, payload), 'stored');
  }
}

suite('a stream that was deleted and made again while a process runs', () => {
  test('is delivered from its first request on, though their sequences were done before', async () => {
    await using bed = await openBed();
    await using receiver = await openReceiver();
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
    await using deliver = await bed.deliver();
    const names = () => receiver.received.map(eventOf);
    for (const name of ['one', 'two', 'three']) await bed.append(track(name));
    await until(async () => names().length === 3 && (await bed.unsettled()) === 0);

    const { config: stream } = await bed.manager.streams.info('EVENTS-0');
    const { config: consumer } = await bed.manager.consumers.info('EVENTS-0', 'deliver');
    await bed.manager.streams.delete('EVENTS-0');
    await bed.manager.streams.add(stream);
    await bed.manager.consumers.add('EVENTS-0', consumer);

    for (const name of ['four', 'five', 'six', 'seven']) await bed.append(track(name));
    await until(async () => (await bed.unsettled()) === 0);
    const all = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];
    assert.deepEqual(names().toSorted(), all.toSorted());
    assert.ok(deliver.stats());
  });
});

suite('a position in a lane', () => {
  test('beyond the end of its stream drops nothing: what waits is delivered', async () => {
    await using bed = await openBed();
    await using receiver = await openReceiver();
    // One attempt at a time, so that arrivals have the order of the lane.
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }], maxConcurrency: 1 } });
    await using side = await bed.stream.deliverySide();
    await park(side, ['one', 'two', 'three']);
    const note = { next: { 0: { sequence: 5_000, taken: 0 } } };
    await bed.publish('tickets.due.dst_1', JSON.stringify({ held: false, note: JSON.stringify(note) }));
    await using deliver = await bed.deliver();
    await until(async () => Object.keys(await bed.laneGroups()).length === 0);
    assert.deepEqual(receiver.received.map(eventOf), ['one', 'two', 'three']);
    assert.ok(deliver.stats());
  });

  test('in a stream that is deleted and made again drops nothing of the new one', async () => {
    await using bed = await openBed();
    let isDown = true;
    await using receiver = await openReceiver((one, response) => answer(isDown ? 500 : 200)(one, response));
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
    await using side = await bed.stream.deliverySide();
    await using deliver = await bed.deliver({ retryScale: 5 });
    await bed.append(...Array.from({ length: 30 }, (_, nth) => track(`old-${nth}`)));
    await until(async () => receiver.received.length >= 12 && (await bed.unsettled()) === 0);

    const { config } = await bed.manager.streams.info('LANES-0');
    await bed.manager.streams.delete('LANES-0');
    await bed.manager.streams.add(config);
    const names = Array.from({ length: 40 }, (_, nth) => `new-${nth}`);
    await park(side, names);
    isDown = false;
    await side.tickets.ensure('dst_1', { dueAt: side.now(), hurry: true });
    await until(async () => Object.keys(await bed.laneGroups()).length === 0);
    const arrived = new Set(receiver.received.map(eventOf));
    assert.deepEqual(
      names.filter((name) => !arrived.has(name)),
      [],
    );
    assert.ok(deliver.stats());
  });
});
