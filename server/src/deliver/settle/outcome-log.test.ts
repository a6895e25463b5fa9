import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { attempted } from '../../../testing/outcomes.ts';
import { until } from '../../../testing/until.ts';
import { openLog } from '../../log.ts';
import type { Outcomes } from '../../stream/deliveries/outcomes.ts';
import { openRecorder } from './outcome-log.ts';

const log = openLog({ level: 'silent', pretty: false });

/** Its clock stands still unless a test sets it, and its stream answers when a test lets it. */
function openBed() {
  const batches: number[] = [];
  const clock = { ms: 0 };
  let answer: Promise<void> = Promise.resolve();
  const outcomes: Outcomes = {
    format: 'whole',
    homeOf: () => 0,
    async append(batch) {
      batches.push((JSON.parse(batch) as { entries: unknown[] }).entries.length);
      await answer;
      return 'stored';
    },
  };
  const recorder = openRecorder({ outcomes, log, uptimeMs: () => clock.ms });
  const record = (entries: number) =>
    Promise.all(Array.from({ length: entries }, () => recorder.record(attempted(1, 'delivered', 200))));
  return {
    batches,
    clock,
    record,
    /** Until the returned function is called. */
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      answer = promise;
      return resolve;
    },
    [Symbol.dispose]: () => recorder[Symbol.dispose](),
  };
}

suite('outcomes', () => {
  test('are stored together, and each is told when its batch is', async () => {
    using bed = openBed();
    await bed.record(5);
    assert.deepEqual(bed.batches, [5]);
  });

  // No timer can end within one turn of the event loop: a batch that the log stores in that turn is stored for its size.
  test('of a burst are stored before the time is over, but not each on its own', () => {
    using bed = openBed();
    void bed.record(20);
    assert.deepEqual(bed.batches, []);
    bed.clock.ms = 6;
    void bed.record(1);
    assert.deepEqual(bed.batches, [21]);
  });

  test('of a burst wait while a write is under way: the stream would only store it later', async () => {
    using bed = openBed();
    const release = bed.hold();
    const first = bed.record(16);
    bed.clock.ms = 6;
    const second = bed.record(1);
    assert.deepEqual(bed.batches, [17]);
    const behind = bed.record(16);
    bed.clock.ms = 14;
    const last = bed.record(1);
    assert.deepEqual(bed.batches, [17]);
    release();
    await Promise.all([first, second, behind, last]);
    assert.deepEqual(bed.batches, [17, 17]);
  });

  test('are stored when their time is over, though a write is under way', async () => {
    using bed = openBed();
    const release = bed.hold();
    void bed.record(16);
    bed.clock.ms = 6;
    void bed.record(1);
    void bed.record(1);
    await until(() => bed.batches.length === 2);
    assert.deepEqual(bed.batches, [17, 1]);
    release();
  });

  test('of a burst are gathered for longer where a write takes long', async () => {
    using bed = openBed();
    const release = bed.hold();
    const slow = bed.record(16);
    bed.clock.ms = 6;
    const whole = bed.record(1);
    bed.clock.ms = 14;
    release();
    await Promise.all([slow, whole]);
    // That write took 8 ms.
    const next = bed.record(16);
    bed.clock.ms = 14 + 15;
    const early = bed.record(1);
    assert.deepEqual(bed.batches, [17]);
    bed.clock.ms = 14 + 16;
    const last = bed.record(1);
    assert.deepEqual(bed.batches, [17, 18]);
    await Promise.all([next, early, last]);
  });
});
