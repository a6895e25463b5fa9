import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Delivery } from '../../domain/delivery.ts';
import type { Webhook } from '../attempt/webhook.ts';
import { aDelivery, answersOf, aWebhook, EVENT, failure, status } from '../../../testing/samples.ts';
import { newGate } from './gate.ts';
import { newLine, type PendingAttempt, pick } from './line.ts';
import { learnPace, learnRefusal, learnSize, takeBatch } from './take-batch.ts';

const WEBHOOK = aWebhook({ format: 'batch' });
const URLS = ['https://a.example/', 'https://b.example/'];
const bigEvent = (bytes: number) => ({ ...EVENT, properties: { text: 'x'.repeat(bytes) } });

function pendingOf(change: Partial<Delivery>, webhook: Webhook, isLong = false): PendingAttempt {
  return { delivery: aDelivery(change), webhook, isLong, finish: () => undefined };
}

/** A line in which these wait. */
function lineOf(fresh: Partial<Delivery>[], backlog: Partial<Delivery>[] = [], webhook = WEBHOOK) {
  const line = newLine(newGate('dst_1', 0));
  line.fresh = fresh.map((change) => ({ pending: pendingOf(change, webhook), since: 0 }));
  line.backlog = backlog.map((change) => pendingOf(change, webhook));
  return line;
}

function takenFrom(line: ReturnType<typeof lineOf>, now = 0): PendingAttempt[] {
  const picked = pick(line, () => true);
  return picked === undefined ? [] : takeBatch(line, picked, now);
}

const ids = (batch: readonly PendingAttempt[]) => batch.map(({ delivery }) => delivery.id);
const many = (count: number, change: Partial<Delivery> = {}) =>
  Array.from({ length: count }, (_, index) => ({ id: `d${index}`, ...change }));

suite('a batch of a line', () => {
  test('has up to a hundred deliveries, in their order', () => {
    const line = lineOf(many(250));
    assert.deepEqual(ids(takenFrom(line)), ids(lineOf(many(100)).fresh.map(({ pending }) => pending)));
    assert.equal(takenFrom(line).length, 100);
    assert.equal(takenFrom(line).length, 50);
    assert.deepEqual(takenFrom(line), []);
  });

  test('is one delivery where the destination gets no batches', () => {
    assert.equal(takenFrom(lineOf(many(3), [], aWebhook())).length, 1);
  });

  test('has up to 500,000 bytes, and a larger event goes alone', () => {
    const line = lineOf([
      ...many(3, { event: bigEvent(200_000) }),
      { id: 'huge', event: bigEvent(510_000) },
      { id: 'small' },
    ]);
    assert.deepEqual(ids(takenFrom(line)), ['d0', 'd1']);
    assert.deepEqual(ids(takenFrom(line)), ['d2']);
    assert.deepEqual(ids(takenFrom(line)), ['huge']);
    assert.deepEqual(ids(takenFrom(line)), ['small']);
  });

  test('joins new deliveries and those of the lane, which are older and come first', () => {
    assert.deepEqual(ids(takenFrom(lineOf([{ id: 'new' }], [{ id: 'old' }, { id: 'old2' }]))), ['old', 'old2', 'new']);
    assert.deepEqual(ids(takenFrom(lineOf([], [{ id: 'old' }]))), ['old']);
  });

  test('of new deliveries takes none of a long backlog along, which has to yield', () => {
    const line = lineOf([{ id: 'new' }]);
    line.backlog = [pendingOf({ id: 'old' }, WEBHOOK, true)];
    assert.deepEqual(ids(takenFrom(line)), ['new']);
    assert.deepEqual(ids(takenFrom(line)), ['old']);
  });

  test('is smaller after each attempt of a delivery in it, and at last that delivery is alone', () => {
    const sizes = [0, 1, 2, 3, 4].map((attempts) => takenFrom(lineOf(many(120, { attempts }))).length);
    assert.deepEqual(sizes, [100, 25, 5, 1, 1]);
    const mixed = lineOf([...many(10), { id: 'tried', attempts: 2 }, { id: 'next' }]);
    assert.equal(takenFrom(mixed).length, 10, 'a delivery that was tried twice does not join a larger one');
    assert.deepEqual(ids(takenFrom(mixed)), ['tried', 'next']);
  });

  test('has no event twice: a repetition goes into the next one', () => {
    const line = lineOf([{ id: 'a' }, { id: 'b' }, { id: 'a' }, { id: 'c' }], [{ id: 'x' }]);
    assert.deepEqual(ids(takenFrom(line)), ['x', 'a', 'b']);
    assert.deepEqual(ids(takenFrom(line)), ['a', 'c']);
    assert.deepEqual(ids(takenFrom(lineOf([{ id: 'a' }], [{ id: 'a' }]))), ['a'], 'fresh and in the lane');
  });

  test('has one version of the settings, and the same targets left', () => {
    const line = lineOf([{ id: 'a' }, { id: 'b' }]);
    line.fresh[1] = { pending: pendingOf({ id: 'b' }, aWebhook({ format: 'batch' })), since: 0 };
    assert.deepEqual(ids(takenFrom(line)), ['a']);
    const targets = URLS.map((url) => ({ url, headers: [] }));
    const settled = { [URLS[0] ?? '']: 'delivered' as const };
    const partly = lineOf(
      [{ id: 'a', settled }, { id: 'b', settled }, { id: 'c' }],
      [],
      aWebhook({ format: 'batch', targets }),
    );
    assert.deepEqual(ids(takenFrom(partly)), ['a', 'b']);
    assert.deepEqual(ids(takenFrom(partly)), ['c']);
  });

  test('leaves out an event that no body can be made of, for an attempt of its own that tells why', () => {
    const broken = { ...EVENT, properties: { toJSON: () => assert.fail('no body') } } as unknown as typeof EVENT;
    const line = lineOf([{ id: 'a' }, { id: 'broken', event: broken }, { id: 'c' }]);
    assert.deepEqual(ids(takenFrom(line)), ['a']);
    assert.deepEqual(ids(takenFrom(line)), ['broken']);
    assert.deepEqual(ids(takenFrom(line)), ['c']);
  });
});

suite('a receiver that answers 413', () => {
  const answered = (code: number) => ({ startedAt: 0, answers: answersOf(status(code)) });
  const bytesOf = (batch: PendingAttempt[]) => batch.reduce((sum, { item = '' }) => sum + item.length, 0);

  test('gets batches of half the size, and again of half, for an hour', () => {
    const sizes = [0, 1, 2].map(() => 0);
    const line = lineOf([]);
    for (const round of sizes.keys()) {
      line.fresh = lineOf(many(100, { event: bigEvent(2_000) })).fresh;
      const batch = takenFrom(line, 1_000);
      sizes[round] = bytesOf(batch);
      learnSize(line.gate, answered(413), batch, 1_000);
    }
    const [first = 0, second = 0, third = 0] = sizes;
    assert.ok(second <= first / 2 && second > first / 2 - 5_000, `${second} of ${first}`);
    assert.ok(third <= second / 2, `${third} of ${second}`);
    line.fresh = lineOf(many(100, { event: bigEvent(2_000) })).fresh;
    assert.equal(bytesOf(takenFrom(line, 1_001 + 3_600_000)), first);
  });

  test('to a single event, or another status, learns nothing of it', () => {
    const line = lineOf(many(2));
    const batch = takenFrom(line);
    learnSize(line.gate, answered(400), batch, 0);
    learnSize(line.gate, answered(413), batch.slice(0, 1), 0);
    assert.equal(line.gate.refusedBytes, undefined);
  });
});

suite('a receiver that refuses everything', () => {
  const answered = (...codes: number[]) => ({ startedAt: 0, answers: answersOf(...codes.map((code) => status(code))) });
  const sizeAfter = (...attempts: ReturnType<typeof answered>[]) => {
    const line = lineOf(many(100));
    for (const attempt of attempts) learnRefusal(line.gate, attempt);
    return takenFrom(line).length;
  };
  const refusals = (count: number) => Array.from({ length: count }, () => answered(404));

  test('gets events one by one, which it would at last get anyway, until it takes one', () => {
    assert.equal(sizeAfter(...refusals(29)), 100);
    assert.equal(sizeAfter(...refusals(30)), 1);
    assert.equal(sizeAfter(...refusals(30), answered(200)), 100);
  });

  test('is none that is down, and none of which one target takes them', () => {
    assert.equal(sizeAfter(...refusals(29), answered(503)), 100);
    assert.equal(sizeAfter(...refusals(29), answered(404, 503)), 100);
    assert.equal(sizeAfter(...refusals(29), answered(404, 200), ...refusals(1)), 100);
  });
});

suite('a receiver that cannot handle a whole batch in time', () => {
  const late = { startedAt: 0, answers: answersOf(failure('timeout')) };
  const good = { startedAt: 0, answers: answersOf(status(200)) };
  const down = { startedAt: 0, answers: answersOf(status(503)) };

  /** The size of the next batch of new events, after these attempts with so many events. */
  function sizeAfter(attempts: readonly [attempt: typeof late, events: number][]): number {
    const line = lineOf(many(120));
    for (const [attempt, events] of attempts) learnPace(line.gate, attempt, events);
    return takenFrom(line).length;
  }

  test('gets half of it, and one event more with each whole batch that it takes', () => {
    assert.equal(sizeAfter([[late, 100]]), 50);
    const twice: [typeof late, number][] = [
      [late, 100],
      [late, 50],
    ];
    assert.equal(sizeAfter([...twice, [late, 100]]), 25, 'a larger one that was under way tells nothing new');
    assert.equal(sizeAfter([...twice, [good, 25], [good, 26]]), 27);
    assert.equal(sizeAfter([...twice, [good, 24]]), 25, 'a smaller one does not show that it could take more');
  });

  test('gets whole batches again in the end', () => {
    const growing = Array.from({ length: 51 }, (_, index): [typeof late, number] => [good, 50 + index]);
    assert.equal(sizeAfter([[late, 100], ...growing]), 100);
  });

  test('is none that answers, nor one that cannot take a single event', () => {
    assert.equal(sizeAfter([[down, 100]]), 100);
    assert.equal(sizeAfter([[late, 1]]), 100);
  });
});
