import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openBed } from '../../testing/deliver-bed.ts';
import { answer, openReceiver } from '../../testing/receiver.ts';
import { until } from '../../testing/until.ts';
import { track } from '../../testing/samples.ts';

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => track(`e${from + index}`));

suite('a destination in trouble', () => {
  test('is left alone but for probes, and gets everything when it is back', async () => {
    await using bed = await openBed();
    let isDown = true;
    await using receiver = await openReceiver((one, response) => answer(isDown ? 500 : 200)(one, response));
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
    await using _ = await bed.deliver({ retryScale: 20 });
    await bed.append(...numbered(0, 500));
    await until(async () => (await bed.unsettled()) === 0);
    const attempted = receiver.received.length;
    assert.ok(attempted <= 40, `${attempted} attempts were made before the breaker opened`);
    await bed.append(...numbered(500, 1_000));
    await until(async () => (await bed.unsettled()) === 0);
    assert.ok(receiver.received.length - attempted <= 3, 'new events are not attempted while the breaker is open');
    isDown = false;
    const before = receiver.received.length;
    await until(() => new Set(good(before)).size === 1_000);
    assert.equal(good(before).length, 1_000, 'each once');
    await until(async () => Object.keys(await bed.laneGroups()).length === 0 && (await bed.tickets()).length === 0);
    assert.deepEqual(await bed.deadLetters(), []);

    function good(from: number): string[] {
      return receiver.received.slice(from).map(({ body }) => (JSON.parse(body) as { event: string }).event);
    }
  });

  test('that asks for time is not sent anything before, not even new events', async () => {
    await using bed = await openBed();
    let count = 0;
    await using receiver = await openReceiver((one, response) => {
      count += 1;
      if (count === 1) answer(429, { 'Retry-After': '3' })(one, response);
      else answer(200)(one, response);
    });
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
    await using _ = await bed.deliver({ retryScale: 20 });
    await bed.append(track('first'));
    await until(async () => (await bed.unsettled()) === 0 && receiver.received.length === 1);
    await bed.append(track('second'));
    await until(() => receiver.received.length === 3);
    const [first, ...later] = receiver.received;
    for (const { at } of later) assert.ok(at - (first?.at ?? 0) >= 2_990, `sent after ${at - (first?.at ?? 0)} ms`);
  });

  test('gives up at the end of the window, and the dead letter tells the whole story', async () => {
    await using bed = await openBed();
    await using receiver = await openReceiver(answer(503));
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
    await using _ = await bed.deliver({ retryScale: 960 });
    await bed.append(track('doomed'));
    await until(async () => (await bed.deadLetters()).length === 1);
    const [letter] = await bed.deadLetters();
    assert.equal(letter?.reason, 'expired');
    assert.equal(letter?.delivery.attempts, receiver.received.length);
    assert.deepEqual(
      letter?.delivery.history.at(-1)?.answers.map(({ status }) => status),
      [503],
    );
    // By our own starts: when a POST arrives is up to the machine.
    const spanMs = (letter?.delivery.history.at(-1)?.at ?? 0) - (letter?.delivery.firstAttemptAt ?? 0);
    assert.ok(spanMs <= 15_000, `the last attempt came after ${spanMs} ms of 15,000`);
    assert.ok(spanMs >= 10_000, `the last attempt came after ${spanMs} ms of 15,000`);
    await until(async () => (await bed.tickets()).length === 0);
  });

  test('that is paused keeps what comes, and gets it when it is resumed', async () => {
    await using bed = await openBed();
    await using receiver = await openReceiver();
    const settings = { targets: [{ url: receiver.url }] };
    await bed.putDestination({ settings, paused: true });
    await using _ = await bed.deliver();
    await bed.append(...numbered(0, 10));
    await until(async () => (await bed.unsettled()) === 0);
    assert.equal(receiver.received.length, 0);
    await bed.putDestination({ settings, paused: false, resumedAt: new Date().toISOString() });
    await until(() => receiver.received.length === 10);
  });

  test('that was deleted is forgotten, with what waited for it', { timeout: 90_000 }, async () => {
    await using bed = await openBed();
    await using receiver = await openReceiver(answer(500));
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
    await using _ = await bed.deliver({ retryScale: 20 });
    await bed.append(track('a'));
    await until(async () => (await bed.unsettled()) === 0);
    await bed.deleteDestination('dst_1');
    await until(async () => (await bed.tickets()).length === 0, 80_000);
    assert.deepEqual(await bed.laneGroups(), {});
  });
});

suite('stopping', () => {
  test('loses nothing and sends nothing twice: what could not be sent is left to the next process', async () => {
    await using bed = await openBed();
    await using receiver = await openReceiver((_, response) => void setTimeout(() => response.end(), 50));
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }], maxConcurrency: 4 } });
    const first = await bed.deliver();
    await bed.append(...numbered(0, 100));
    await until(() => receiver.received.length > 10);
    await first[Symbol.asyncDispose]();
    const sent = receiver.received.length;
    assert.ok(sent < 100);
    assert.equal(await bed.unsettled(), 0);
    await using _ = await bed.deliver();
    await until(() => receiver.received.length === 100);
    await until(async () => (await bed.tickets()).length === 0);
    assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 100);
  });
});
