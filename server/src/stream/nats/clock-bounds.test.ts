import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { boundsOf, type ClockBounds, describeOffset, hostOffset, isTooFar, middleOf, narrow } from './clock-bounds.ts';

/** An answer of an engine whose clock is ahead of the monotonic one by this much. */
function reading({ aheadMs, at, thereMs, backMs }: { aheadMs: number; at: number; thereMs: number; backMs: number }) {
  return { sentAt: at, engineAt: at + thereMs + aheadMs, arrivedAt: at + thereMs + backMs };
}

function narrowAll(readings: readonly ReturnType<typeof reading>[]): ClockBounds {
  let known: ClockBounds | undefined;
  for (const each of readings) known = narrow(known, each);
  return known ?? assert.fail();
}

suite('the time of the engine', () => {
  test('lies within the round trip, wherever on its way the answer was slow', () => {
    for (const [thereMs, backMs] of [
      [0, 3_000],
      [3_000, 0],
      [1_500, 1_500],
    ] as const) {
      const { least, most } = boundsOf(reading({ aheadMs: 50_000, at: 1_000, thereMs, backMs }));
      assert.ok(least <= 50_000 && 50_000 <= most, `${least} to ${most}`);
    }
  });

  test('is known better with every answer, and a slow one takes nothing away', () => {
    const quick = reading({ aheadMs: 50_000, at: 1_000, thereMs: 1, backMs: 1 });
    const slow = reading({ aheadMs: 50_000, at: 2_000, thereMs: 4_000, backMs: 10 });
    const { least, most } = narrowAll([slow, quick, slow]);
    assert.ok(most - least < 6, `${most - least} ms apart`);
    assert.ok(Math.abs(middleOf({ least, most }) - 50_000) < 3);
  });

  test('follows clocks that drift', () => {
    const readings = Array.from({ length: 1_000 }, (_, nth) =>
      reading({ aheadMs: 50_000 + nth * 0.5, at: nth * 5_000, thereMs: 1, backMs: 1 }),
    );
    assert.ok(Math.abs(middleOf(narrowAll(readings)) - 50_500) < 5);
  });

  test('follows a clock that was set, forward or back, with the first answer', () => {
    const before = reading({ aheadMs: 50_000, at: 1_000, thereMs: 1, backMs: 1 });
    for (const aheadMs of [50_000 + 86_400_000, 50_000 - 3_600_000, 50_010]) {
      const known = narrowAll([before, reading({ aheadMs, at: 6_000, thereMs: 1, backMs: 1 })]);
      assert.ok(Math.abs(middleOf(known) - aheadMs) < 5, `${middleOf(known)}`);
    }
  });
});

suite('a host’s clock', () => {
  const offsetOf = (hostAhead: number, roundTripMs: number) =>
    hostOffset(boundsOf(reading({ aheadMs: 0, at: 0, thereMs: roundTripMs / 2, backMs: roundTripMs / 2 })), hostAhead);

  test('is too far off beyond two seconds, ahead or behind', () => {
    assert.deepEqual(
      [2_500, 1_900, -1_900, -2_500].map((ms) => isTooFar(offsetOf(ms, 10))),
      [true, false, false, true],
    );
  });

  test('is not accused by an answer that was slow', () => {
    assert.equal(isTooFar(offsetOf(2_500, 3_000)), false);
    assert.equal(isTooFar(offsetOf(-2_500, 3_000)), false);
    assert.equal(isTooFar(offsetOf(30_000, 3_000)), true);
  });

  test('is described with its offset, its direction and what to do', () => {
    assert.match(describeOffset(offsetOf(-30_000, 1), 'NATS server n1'), /30\.0 s behind that of NATS server n1.*NTP/);
    assert.match(describeOffset(offsetOf(86_400_000, 1), 'NATS server n1'), /86400\.0 s ahead of that of/);
  });
});
