import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Definition } from '@millrace/contract/audiences';
import { openNatsLives } from '../../testing/compute/nats-lives.ts';
import { openProfileBed } from '../../testing/profile-store.ts';
import { until } from '../../testing/until.ts';

const ORDERS: Definition = { kind: 'trait', name: 'Orders', compute: 'count', event: 'Order', settleSeconds: 0 };
const order = (messageId: string) => ({ type: 'track', event: 'Order', userId: 'u1', messageId });

suite('the reader of a stream that nobody has read', () => {
  test('begins with the first request when the stream was added while definitions are live', async () => {
    await using lives = await openNatsLives();
    await lives.send([order('m1')]);
    const id = await lives.create({ key: 'orders', destinations: [], definition: ORDERS });
    await lives.runJobs();
    assert.deepEqual((await lives.found(id)).values, { u1: 1 });
    const sendToNew = await lives.addStream();
    await sendToNew([order('m2')]);
    await sendToNew([order('m3')]);
    // Compute hears of it only now.
    await lives.startReading('EVENTS-1');
    await until(async () => (await lives.found(id)).values['u1'] === 3);
    const [row] = await lives.sql<{ since: Date | null }>('SELECT incomplete_since AS since FROM definitions');
    assert.equal(row?.since, null);
  });
});

test('where reading ended is forgotten without definitions, and not before', async () => {
  await using bed = await openProfileBed();
  const held = await bed.profiles.takeOver('EVENTS-0', 'a');
  const position = { createdAt: 1, sequence: 7, storedAt: 2, clock: 3, left: [4] };
  await bed.profiles.fold(held, (tx) => tx.moveTo(position));
  await bed.profiles.forgetPositions();
  assert.deepEqual((await bed.profiles.positions())[0]?.position, position);
  bed.server.run(`UPDATE definitions SET state = 'deleted'`);
  await bed.profiles.forgetPositions();
  const [row] = await bed.profiles.positions();
  assert.deepEqual([row?.position, row?.epoch], [undefined, held.epoch]);
});
