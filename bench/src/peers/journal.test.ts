import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { breaches, type Entry, flowOf, type Outage } from './journal.ts';

const entry = (change: Partial<Entry> = {}): Entry => ({
  kind: 'ok',
  sentAt: 0,
  status: 200,
  acceptedAt: 10,
  receivedAt: 15,
  arrivals: 1,
  ...change,
});
const OUTAGE: Outage = { queue: 'NATS', awayStatus: 503, awayMs: 2, resendStatus: 200, arrivals: 1, isBack: true };

suite('the journal of a comparison', () => {
  test('counts events for working receivers: missing, twice, late, and the time from acceptance to arrival', () => {
    const { receivedAt: _, ...missing } = entry({ arrivals: 0 });
    const { acceptedAt: __, ...refused } = entry({ status: 503 });
    const found = flowOf([
      entry(),
      entry({ arrivals: 2, receivedAt: 5 }),
      entry({ receivedAt: 2_000 }),
      missing,
      refused,
      entry({ kind: 'hang' }),
    ]);
    assert.deepEqual(found, {
      accepted: 4,
      missing: 1,
      twice: 1,
      lateOver1s: 2,
      p50Ms: 5,
      p99Ms: 1_990,
      maxMs: 1_990,
      deliveredPerSecond: 2,
      statuses: { 200: 5, 503: 1 },
    });
  });

  test('has figures without an event', () => {
    assert.ok(Object.values(flowOf([])).every((value) => value === 0 || typeof value === 'object'));
  });
});

suite('an outage of the queue', () => {
  test('breaks no promise where a refused event arrives after it was sent again, also twice', () => {
    assert.deepEqual(breaches(OUTAGE), []);
    assert.deepEqual(breaches({ ...OUTAGE, awayStatus: 0, arrivals: 2 }), []);
  });

  test('is told by each promise that is broken', () => {
    assert.deepEqual(breaches({ ...OUTAGE, awayStatus: 201, arrivals: 0 }), ['accepted without its queue, and lost']);
    assert.deepEqual(breaches({ ...OUTAGE, awayStatus: 202 }), ['accepted without its queue']);
    assert.deepEqual(breaches({ ...OUTAGE, awayStatus: 0, resendStatus: 409, arrivals: 0 }), [
      'a resend was refused',
      'a resend did not arrive',
    ]);
    assert.deepEqual(breaches({ ...OUTAGE, isBack: false }), ['consumers did not return']);
  });
});
