import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { verifyBody } from '@millrace/contract';
import { openBed } from '../../testing/deliver-bed.ts';
import { answer, openReceiver } from '../../testing/receiver.ts';
import { until } from '../../testing/until.ts';
import { track } from '../../testing/samples.ts';

suite('delivering', () => {
  test('an event reaches its webhook, signed, and its request is acknowledged', async () => {
    await using bed = await openBed();
    await using receiver = await openReceiver();
    const targets = [{ url: receiver.url, headers: { 'X-Team': 'blue' } }];
    await bed.putDestination({ settings: { targets, sharedSecret: 'a shared secret' } });
    await using _ = await bed.deliver();
    await bed.append(track('Order Completed', { properties: { revenue: 12.5 } }));
    await until(() => receiver.received.length === 1);
    const [received] = receiver.received;
    assert.equal(received?.headers['user-agent'], 'Millrace/1.0');
    assert.equal(received?.headers['content-type'], 'application/json');
    assert.equal(received?.headers['x-team'], 'blue');
    assert.equal(received?.headers['x-millrace-attempt'], '1');
    assert.ok(verifyBody('a shared secret', received?.body ?? '', String(received?.headers['x-signature'])));
    await until(async () => (await bed.unsettled()) === 0);
  });

  test('a failed delivery is tried again five seconds later, and its lane and ticket are gone afterwards', async () => {
    await using bed = await openBed();
    let count = 0;
    await using receiver = await openReceiver((one, response) => {
      count += 1;
      answer(count === 1 ? 500 : 200)(one, response);
    });
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
    await using _ = await bed.deliver();
    await bed.append(track('a'));
    await until(async () => (await bed.unsettled()) === 0 && receiver.received.length === 1);
    assert.deepEqual(await bed.laneGroups(), { 'lanes.0.dst_1.1': 1 });
    await until(() => receiver.received.length === 2);
    const [first, second] = receiver.received;
    assert.equal(second?.headers['webhook-id'], first?.headers['webhook-id']);
    assert.equal(second?.headers['x-millrace-attempt'], '2');
    const waitedMs = (second?.at ?? 0) - (first?.at ?? 0);
    // The next step would be 15 seconds.
    assert.ok(waitedMs >= 5_000 && waitedMs < 14_000, `waited ${waitedMs} ms`);
    await until(async () => Object.keys(await bed.laneGroups()).length === 0 && (await bed.tickets()).length === 0);
  });
});
