/** A receiver that asks for quiet gets it from every process, also when a person asks for an attempt now. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openBed } from '../../testing/deliver-bed.ts';
import { answer, openReceiver } from '../../testing/receiver.ts';
import { staysTrueFor, until } from '../../testing/until.ts';
import { track } from '../../testing/samples.ts';

const MINUTE = 60_000;
const HOURS = 36_000_000;

suite('a receiver that asks to wait', () => {
  test('is left alone for that time although the retry schedule waits longer', { timeout: 2 * MINUTE }, async () => {
    await using bed = await openBed();
    let status = 429;
    await using receiver = await openReceiver((one, response) =>
      answer(status, status === 429 ? { 'Retry-After': '12' } : {})(one, response),
    );
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
    // The first retry is due after 100 seconds.
    await using _ = await bed.deliver({ retryScale: 0.05 });
    await using side = await bed.stream.deliverySide();
    const hurry = () => side.tickets.hurry('dst_1', { at: side.now(), upTo: side.now() + HOURS });
    await bed.append(track('one'));
    await until(async () => (await bed.unsettled()) === 0 && receiver.received.length === 1, MINUTE);
    const [first] = receiver.received;
    assert.ok(first !== undefined);
    status = 200;
    await until(async () => (await hurry()) === 'hurried', MINUTE);
    await bed.append(track('two'));
    await until(async () => (await bed.unsettled()) === 0, MINUTE);
    await staysTrueFor(3_000, () => receiver.received.length === 1);
    // The new event follows when the time is over.
    await until(() => receiver.received.length >= 2, MINUTE);
    assert.ok((receiver.received[1]?.at ?? 0) - first.at >= 11_500);
  });

  test('while its circuit breaker is open is not probed before that time', { timeout: 2 * MINUTE }, async () => {
    await using bed = await openBed();
    await using receiver = await openReceiver(answer(503, { 'Retry-After': '3' }));
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
    await using _ = await bed.deliver({ retryScale: 0.05 });
    await using side = await bed.stream.deliverySide();
    await using health = await bed.stream.deliverySide();
    let state = '';
    await using watching = await health.health.watch((_id, lane) => void (state = lane?.state ?? ''));
    assert.ok(watching);
    await bed.append(...Array.from({ length: 40 }, (_each, index) => track(`e${index}`)));
    await until(() => state === 'failing');
    await until(async () => (await bed.unsettled()) === 0, MINUTE);
    const last = () => receiver.received.at(-1)?.at ?? 0;
    const [before, lastAt] = [receiver.received.length, last()];
    const hurry = () => side.tickets.hurry('dst_1', { at: side.now(), upTo: side.now() + HOURS });
    await until(async () => {
      await hurry();
      return receiver.received.length > before;
    }, MINUTE);
    const [next] = receiver.received.slice(before);
    assert.ok((next?.at ?? 0) - lastAt >= 2_900, `a probe after ${(next?.at ?? 0) - lastAt} ms`);
    await staysTrueFor(2_000, () => receiver.received.length === before + 1);
  });

  test('is left alone by a process that takes the lane over', { timeout: 3 * MINUTE }, async () => {
    await using bed = await openBed();
    const isSecondThere = Promise.withResolvers<void>();
    await using receiver = await openReceiver((one, response) => {
      void isSecondThere.promise.then(() => answer(429, { 'Retry-After': '600' })(one, response));
    });
    await bed.putDestination({ settings: { targets: [{ url: receiver.url }] } });
    const first = await bed.deliver();
    await using side = await bed.stream.deliverySide();
    await bed.append(track('one'));
    await until(() => receiver.received.length === 1, MINUTE);
    await using _ = await bed.deliver();
    isSecondThere.resolve();
    await until(async () => (await bed.unsettled()) === 0, MINUTE);
    await first[Symbol.asyncDispose]();
    for (let round = 0; round < 5; round += 1) {
      await side.tickets.hurry('dst_1', { at: side.now(), upTo: side.now() + HOURS });
      await staysTrueFor(1_500, () => receiver.received.length === 1);
    }
  });
});
