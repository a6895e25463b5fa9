import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { facts } from '../../testing/outcomes.ts';
import { deliveryId } from './delivery.ts';
import { openLeanBatch } from './lean-outcomes.ts';
import type { OutcomeAnswer, OutcomeEntry } from './outcome.ts';
import { readOutcomes } from './read-outcomes.ts';

const text = fc.oneof(fc.string(), fc.constantFrom('', '\u0000', '0'));
const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
const ms = fc.double({ noNaN: true, noDefaultInfinity: true, min: 0, max: 1e6 }).map((value) => value + 0);
const anAnswer: fc.Arbitrary<OutcomeAnswer> = fc.record(
  {
    url: text,
    status: maybe(fc.nat()),
    errorClass: maybe(text),
    message: maybe(text),
    address: maybe(text),
    timings: fc.record(
      { dnsMs: ms, connectMs: ms, tlsMs: ms, firstByteMs: ms, totalMs: ms },
      { requiredKeys: ['totalMs'] },
    ),
    events: maybe(fc.nat()),
    body: maybe(text),
  },
  { requiredKeys: ['url', 'timings'] },
);
const anAttempt: fc.Arbitrary<OutcomeEntry> = fc.record({
  workspaceId: text,
  sourceId: text,
  destinationId: text,
  deliveryId: text,
  messageId: text,
  type: text,
  name: maybe(text),
  userId: maybe(text),
  anonymousId: maybe(text),
  replayId: maybe(text),
  receivedAt: fc.constantFrom(
    '2026-01-01T00:00:00.000Z',
    '2026-01-01T00:00:00Z',
    '2026-01-01',
    '+010000-01-01T00:00:00.000Z',
  ),
  at: fc.integer({ min: 0, max: 4e12 }),
  kind: fc.constant('attempt' as const),
  attempt: fc.nat(),
  outcome: fc.constantFrom('delivered', 'retry', 'discarded', 'expired'),
  nextAt: maybe(fc.integer({ min: 0, max: 4e12 })),
  answers: fc.array(anAnswer, { maxLength: 2 }),
  letter: fc.constantFrom(undefined, 'refused' as const),
});

function batchOf(entries: readonly OutcomeEntry[]): string {
  const batch = openLeanBatch();
  for (const entry of entries) batch.add(entry);
  return batch.text();
}

suite('a lean batch of outcomes', () => {
  test('gives back every entry as it was', () => {
    const some = fc.array(
      fc.oneof(
        anAttempt,
        facts('dlv_2').map(([first]) => first as OutcomeEntry),
      ),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(some, (entries) => {
        const read = readOutcomes(Buffer.from(batchOf(entries)), '2');
        assert.ok(read.ok);
        assert.deepEqual(read.value.bad, []);
        const sorted = (list: readonly unknown[]) => list.map((entry) => inOrder(entry)).sort();
        assert.deepEqual(sorted(read.value.entries), sorted(JSON.parse(JSON.stringify(entries)) as unknown[]));
      }),
    );
  });

  test('takes less than 200 bytes for a delivery, whole ones more than twice as many', () => {
    const entries = Array.from({ length: 100 }, (_, index) => delivered(index));
    const lean = batchOf(entries).length / entries.length;
    const whole = JSON.stringify({ entries }).length / entries.length;
    assert.ok(lean < 200 && whole > 2 * lean, `${lean} of ${whole}`);
  });

  test('that is damaged in any place makes no reader throw, and its other entries stay readable', () => {
    const batch = JSON.parse(batchOf([delivered(1), delivered(2)])) as { lean: unknown[] };
    for (const row of [null, 7, [], [9], [0], [0, 'dlv_1'], { a: 1 }, ['0', 1, 2, 3]]) {
      const read = readOutcomes(Buffer.from(JSON.stringify({ ...batch, lean: [row, ...batch.lean] })), '2');
      assert.ok(read.ok);
      assert.deepEqual([read.value.entries.length, read.value.bad.length], [2, 1], JSON.stringify(row));
    }
    for (const broken of [{ shared: 1 }, { from: 'x' }, { from: 1e300 }]) {
      const read = readOutcomes(Buffer.from(JSON.stringify({ ...batch, ...broken })), '2');
      assert.ok(read.ok && read.value.bad.length === 2, JSON.stringify(broken));
    }
  });
});

/** JSON with the fields of objects in the order of their names. */
function inOrder(value: unknown): string {
  const sorted = (_: string, part: unknown): unknown =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part;
  return JSON.stringify(value, sorted);
}

function delivered(index: number): OutcomeEntry {
  const id = (start: string) => `${start}-0000-4000-8000-${String(index).padStart(12, '0')}`;
  const at = Date.parse('2026-01-01T00:00:00.000Z') + index;
  const timings = { dnsMs: 0.1, connectMs: 1.2, tlsMs: 3.4, firstByteMs: 12.3, totalMs: 12.5 };
  return {
    workspaceId: 'ws_019a0000-0000-7000-8000-000000000001',
    sourceId: 'src_019a0000-0000-7000-8000-000000000001',
    destinationId: 'dst_019a0000-0000-7000-8000-000000000001',
    deliveryId: deliveryId('dst_1', 'src_1', String(index)),
    messageId: id('019a2b3c'),
    type: 'track',
    name: 'Order Completed',
    userId: `user-${index}`,
    anonymousId: id('5f6a7b8c'),
    receivedAt: new Date(at).toISOString(),
    at: at + 4,
    kind: 'attempt',
    attempt: 1,
    outcome: 'delivered',
    answers: [{ url: 'https://hooks.example.com/orders', status: 200, address: '203.0.113.7', timings, body: 'ok' }],
  };
}
