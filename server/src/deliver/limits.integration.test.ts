import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { suite, test } from 'node:test';
import { nanosOf } from '../../testing/inspector.ts';
import { type Bed, KEYS, openBed } from '../../testing/deliver-bed.ts';
import { openReceiver, type Received } from '../../testing/receiver.ts';
import { until } from '../../testing/until.ts';
import { track } from '../../testing/samples.ts';

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => track(`e${from + index}`));

const idsOf = (received: readonly Received[]) => new Set(received.map(({ headers }) => headers['webhook-id']));

/** A receiver that takes its time, and notes how many are with it at once. */
async function openSlow(ms: number) {
  const load = { now: 0, most: 0 };
  const receiver = await openReceiver((_, response: ServerResponse) => {
    load.now += 1;
    load.most = Math.max(load.most, load.now);
    setTimeout(() => {
      load.now -= 1;
      response.end();
    }, ms);
  });
  return { ...receiver, load };
}

async function deliverTwice(bed: Bed): Promise<AsyncDisposable> {
  const both = new AsyncDisposableStack();
  both.use(await bed.deliver());
  both.use(await bed.deliver());
  return both;
}

async function atRest(bed: Bed): Promise<void> {
  await until(async () => (await bed.unsettled()) === 0);
  await until(
    async () => Object.keys(await bed.laneGroups()).length === 0 && (await bed.tickets()).length === 0,
    20_000,
  );
}

// Side by side, each with a server of its own: most of the time is spent waiting.
suite('limits', { concurrency: true }, () => {
  suite('over two processes', { concurrency: true }, () => {
    test('maxConcurrency is kept; what is too much goes to the lane and comes out, each once', async () => {
      await using bed = await openBed();
      await using receiver = await openSlow(50);
      await bed.putDestination({ settings: { targets: [{ url: receiver.url }], maxConcurrency: 4 } });
      await using _ = await deliverTwice(bed);
      for (let from = 0; from < 150; from += 50) await bed.append(...numbered(from, from + 50));
      await until(async () => Object.keys(await bed.laneGroups()).length > 0);
      await until(() => receiver.received.length >= 150);
      await atRest(bed);
      assert.equal(receiver.received.length, 150);
      assert.equal(idsOf(receiver.received).size, 150);
      assert.ok(receiver.load.most <= 4, `${receiver.load.most} at once`);
      assert.ok(receiver.load.most >= 2, `${receiver.load.most} at once`);
    });

    test('a maxConcurrency of one is kept too: only who holds the lane sends', async () => {
      await using bed = await openBed();
      await using receiver = await openSlow(10);
      await bed.putDestination({ settings: { targets: [{ url: receiver.url }], maxConcurrency: 1 } });
      await using _ = await deliverTwice(bed);
      for (let from = 0; from < 50; from += 10) await bed.append(...numbered(from, from + 10));
      await until(() => receiver.received.length >= 50);
      await atRest(bed);
      assert.equal(idsOf(receiver.received).size, 50);
      assert.equal(receiver.received.length, 50);
      assert.equal(receiver.load.most, 1);
    });

    test('maxPerSecond is kept in every second, and what is too much comes later, each once', async () => {
      await using bed = await openBed();
      await using receiver = await openSlow(0);
      await bed.putDestination({ settings: { targets: [{ url: receiver.url }], maxPerSecond: 20 } });
      await using _ = await deliverTwice(bed);
      for (let from = 0; from < 60; from += 10) await bed.append(...numbered(from, from + 10));
      await until(() => receiver.received.length >= 60);
      await atRest(bed);
      assert.equal(receiver.received.length, 60);
      assert.equal(idsOf(receiver.received).size, 60);
      const at = receiver.received.map((one) => one.at).sort((a, b) => a - b);
      for (const start of at) {
        const inSecond = at.filter((each) => each >= start && each < start + 1_000).length;
        // Two processes may each have saved up one, and two that were sent apart may arrive together.
        assert.ok(inSecond <= 20 + 4, `${inSecond} in one second`);
      }
      assert.ok((at.at(-1) ?? 0) - (at[0] ?? 0) >= 2_700, 'sixty take more than two and a half seconds');
    });
  });

  suite('requests that are larger than the room in memory', () => {
    test('reach every receiver once, although the process is stopped in the middle and another goes on', async () => {
      await using bed = await openBed();
      await using receiver = await openReceiver();
      const ids = ['dst_a', 'dst_b', 'dst_c', 'dst_d'];
      for (const id of ids) await bed.putDestination({ id, settings: { targets: [{ url: receiver.url }] } });
      for (let from = 0; from < 2_000; from += 1_000) await bed.append(...numbered(from, from + 1_000));
      {
        await using _ = await bed.deliver();
        await until(() => receiver.received.length >= 500);
      }
      const before = receiver.received.length;
      assert.ok(before < 8_000, `${before} before the stop`);
      await using _ = await bed.deliver();
      await until(() => idsOf(receiver.received).size === 8_000, 60_000);
      await atRest(bed);
      assert.equal(receiver.received.length, 8_000);
    });
  });

  suite('a lane that is full', () => {
    test('turns what is too much into dead letters with that reason, while others flow and what fitted is kept', async () => {
      await using bed = await openBed();
      await using receiver = await openReceiver();
      const settingsOf = (id: string) => ({ targets: [{ url: new URL(`/${id}`, receiver.url).href }] });
      await bed.putDestination({ id: 'dst_full', settings: settingsOf('full'), paused: true });
      await bed.putDestination({ id: 'dst_well', settings: settingsOf('well') });
      await using _ = await bed.deliver({ laneQuotaBytes: 5_000 });
      const received = (path: string) => receiver.received.filter((one) => one.path === path);
      for (let from = 0; from < 100; from += 20) {
        await bed.append(...numbered(from, from + 20));
        await until(async () => (await bed.unsettled()) === 0);
      }
      assert.equal(idsOf(received('/well')).size, 100);
      const letters = await bed.deadLetters();
      assert.ok(letters.length >= 20 && letters.length < 100, `${letters.length} dead letters`);
      for (const { reason, destinationId, delivery } of letters) {
        assert.deepEqual([reason, destinationId, delivery.attempts], ['lane_full', 'dst_full', 0]);
      }
      await bed.putDestination({ id: 'dst_full', settings: settingsOf('full'), resumedAt: new Date().toISOString() });
      await until(() => received('/full').length >= 100 - letters.length);
      await atRest(bed);
      assert.equal(idsOf(received('/full')).size, 100 - letters.length, 'what fitted is not lost');
      assert.equal(received('/well').length, 100);
    });
  });

  suite('a record that is full', () => {
    test('holds up no delivery and loses none, and keeps what it has', async () => {
      await using bed = await openBed();
      await using receiver = await openReceiver();
      await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
      const maxBytes = 30_000;
      await bed.manager.streams.update('OUTCOMES', { max_bytes: maxBytes });
      await using _ = await bed.deliver();
      for (let from = 0; from < 200; from += 20) {
        await bed.append(...numbered(from, from + 20));
        await until(async () => (await bed.unsettled()) === 0);
      }
      await atRest(bed);
      assert.equal(receiver.received.length, 200);
      assert.equal(idsOf(receiver.received).size, 200);
      const { state } = await bed.manager.streams.info('OUTCOMES');
      assert.ok(state.bytes > 0 && state.bytes <= maxBytes, `${state.bytes} bytes`);
      assert.ok(state.first_seq === 1, 'what was there first is still there');
    });
  });

  suite('settings that cannot be opened', () => {
    test('make deliveries wait for a process that has the key', async () => {
      await using bed = await openBed();
      await using receiver = await openReceiver();
      const settings = { targets: [{ url: receiver.url }], sharedSecret: 'a shared secret' };
      await bed.putDestination({ settings });
      const stranger = await bed.deliver({ keys: new Map([[2, Buffer.alloc(32, 'x')]]) });
      await bed.append(track('a'));
      await until(async () => (await bed.unsettled()) === 0);
      assert.deepEqual(await bed.laneGroups(), { 'lanes.0.dst_1.0': 1 });
      await stranger[Symbol.asyncDispose]();
      await using _ = await bed.deliver({ keys: KEYS });
      // A paused lane is looked at every five minutes, or when its destination changes.
      await bed.putDestination({ settings, name: 'touched' });
      await until(() => receiver.received.length === 1);
      await atRest(bed);
      assert.deepEqual(await bed.deadLetters(), []);
      assert.equal(receiver.received.length, 1);
    });
  });

  suite('a request that the engine gives out again', () => {
    test('while its process is still at it is not sent twice, and is acknowledged', async () => {
      await using bed = await openBed();
      const hanging: ServerResponse[] = [];
      await using receiver = await openReceiver((_, response) => void hanging.push(response));
      await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
      await bed.manager.consumers.update('EVENTS-0', 'deliver', { ack_wait: nanosOf(500) });
      await using _ = await bed.deliver();
      await bed.append(track('a'), track('b'));
      await until(() => hanging.length === 2);
      await until(async () => (await bed.manager.consumers.info('EVENTS-0', 'deliver')).num_redelivered > 0);
      for (const response of hanging) response.end();
      await until(async () => (await bed.unsettled()) === 0);
      assert.equal(receiver.received.length, 2);
      assert.equal(idsOf(receiver.received).size, 2);
    });
  });
});
