import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openBed, track, until } from './deliver-for-tests.ts';
import { openReceiver } from './receiver-for-tests.ts';

suite('a stream that was deleted and made again while a process runs', () => {
  test('is delivered from its first request on, though their sequences were done before', async () => {
    await using bed = await openBed();
    await using receiver = await openReceiver();
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
    await using deliver = await bed.deliver();
    const names = () => receiver.received.map(({ body }) => (JSON.parse(body) as { event: string }).event);
    for (const name of ['one', 'two', 'three']) await bed.append(track(name));
    await until(async () => names().length === 3 && (await bed.unsettled()) === 0);

    const { config: stream } = await bed.manager.streams.info('EVENTS-0');
    const { config: consumer } = await bed.manager.consumers.info('EVENTS-0', 'deliver');
    await bed.manager.streams.delete('EVENTS-0');
    await bed.manager.streams.add(stream);
    await bed.manager.consumers.add('EVENTS-0', consumer);

    for (const name of ['four', 'five', 'six', 'seven']) await bed.append(track(name));
    await until(async () => (await bed.unsettled()) === 0, 30_000);
    const all = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'];
    assert.deepEqual(names().toSorted(), all.toSorted());
    assert.ok(deliver.stats());
  });
});
