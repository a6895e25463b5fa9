import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { RETRY_WINDOW_MS, withAttempt } from '../../domain/delivery.ts';
import { judge, type Outcome } from './judge.ts';
import { JITTER, RETRY_DELAYS_MS, retrySchedule, TIERS } from './retry-schedule.ts';
import { aDelivery, answersOf, failure, status } from '../../../testing/samples.ts';

type Failing = { dice(): number; scale?: number; tookMs?: number; retryAfter?: string };

/** Plays a delivery whose receiver always fails. Returns the time of each attempt and how it ended. */
function playFailing({ dice, scale = 1, tookMs = 0, retryAfter }: Failing): { attemptsAt: number[]; end: Outcome } {
  const schedule = retrySchedule(scale);
  const attemptsAt: number[] = [];
  let delivery = aDelivery();
  for (let now = 0; ; ) {
    attemptsAt.push(now);
    delivery = withAttempt(delivery, { at: now, answers: [] });
    const answers = answersOf(status(503, retryAfter === undefined ? {} : { retryAfter }));
    const { outcome } = judge({ delivery, answers, policy: 'any', schedule, now: now + tookMs, dice: dice() });
    if (outcome.kind !== 'retry') return { attemptsAt, end: outcome };
    assert.ok(outcome.dueAt > now, 'time goes on');
    now = outcome.dueAt;
  }
}

suite('four hours of failures', () => {
  test('are attempted at exactly these seconds when the dice show 0', () => {
    const { attemptsAt, end } = playFailing({ dice: () => 0 });
    assert.deepEqual(
      attemptsAt.map((at) => at / 1_000),
      [0, 5, 20, 65, 185, 485, 1085, 2285, 4085, 5885, 7685, 9485, 11285, 13085, 13685, 14285],
    );
    assert.deepEqual(end, { kind: 'expired' });
  });

  test('are attempted at exactly these milliseconds when the dice show 0.5', () => {
    const { attemptsAt, end } = playFailing({ dice: () => 0.5 });
    assert.deepEqual(
      attemptsAt,
      [
        0, 5_250, 21_000, 68_250, 194_250, 509_250, 1_139_250, 2_399_250, 4_289_250, 6_179_250, 8_069_250, 9_959_250,
        11_849_250, 13_739_250, 14_369_250,
      ],
    );
    assert.deepEqual(end, { kind: 'expired' });
  });

  test('are attempted at exactly these milliseconds when the dice show almost 1', () => {
    const { attemptsAt, end } = playFailing({ dice: () => 0.9999999 });
    assert.deepEqual(
      attemptsAt,
      [
        0, 5_500, 22_000, 71_500, 203_500, 533_500, 1_193_500, 2_513_500, 4_493_500, 6_473_500, 8_453_500, 10_433_500,
        12_413_500, 14_393_500,
      ],
    );
    assert.deepEqual(end, { kind: 'expired' });
  });

  test('of a receiver that hangs are counted from the end of each attempt, and stay inside the window', () => {
    const { attemptsAt } = playFailing({ dice: () => 0, tookMs: 5_000 });
    assert.deepEqual(attemptsAt.slice(0, 4), [0, 10_000, 30_000, 80_000]);
    assert.ok((attemptsAt.at(-1) ?? 0) <= RETRY_WINDOW_MS);
  });

  test('are the same in a minute when every time is divided by 240', () => {
    const slow = playFailing({ dice: () => 0 }).attemptsAt;
    const fast = playFailing({ dice: () => 0, scale: 240 }).attemptsAt;
    assert.equal(fast.length, slow.length);
    for (const [index, at] of fast.entries()) {
      // Each of the attempts before it may have been rounded by half a millisecond.
      assert.ok(Math.abs(at - (slow[index] ?? 0) / 240) <= index / 2, `attempt ${index + 1} at ${at} ms`);
    }
  });
});

const faces = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 30, maxLength: 30 });
const play = (dice: number[], rest: Omit<Failing, 'dice'> = {}) => {
  let thrown = 0;
  return playFailing({ ...rest, dice: () => dice[thrown++ % dice.length] ?? 0 });
};

suite('whatever the dice show', () => {
  test('no attempt is past the window, and the last one falls into its last hundredth', () => {
    const check = (dice: number[], tookMs: number) => {
      const { attemptsAt, end } = play(dice, { tookMs });
      const last = attemptsAt.at(-1) ?? 0;
      assert.ok(last <= RETRY_WINDOW_MS, `the last attempt is at ${last}`);
      assert.ok(last >= RETRY_WINDOW_MS * 0.99, `the last attempt is at ${last}`);
      assert.deepEqual(end, { kind: 'expired' });
    };
    fc.assert(fc.property(faces, fc.integer({ min: 0, max: 5_000 }), check));
  });

  test('attempts move on in time, each step as long as its tier says and at most a tenth longer', () => {
    const check = (dice: number[]) => {
      const { attemptsAt } = play(dice);
      for (const [index, delayMs] of RETRY_DELAYS_MS.entries()) {
        const stepMs = (attemptsAt[index + 1] ?? 0) - (attemptsAt[index] ?? 0);
        assert.ok(stepMs >= delayMs && stepMs <= Math.ceil(delayMs * (1 + JITTER)), `step ${index + 1}: ${stepMs} ms`);
      }
    };
    fc.assert(fc.property(faces, check));
  });

  test('a receiver that asks for any wait gets no attempt past the window', () => {
    const check = (dice: number[], seconds: number) => {
      const { attemptsAt, end } = play(dice, { retryAfter: String(seconds) });
      assert.ok((attemptsAt.at(-1) ?? 0) <= RETRY_WINDOW_MS);
      assert.ok(attemptsAt.length >= 2, 'there is always a second attempt');
      assert.deepEqual(end, { kind: 'expired' });
    };
    fc.assert(fc.property(faces, fc.integer({ min: 0, max: 1_000_000 }), check));
  });
});

suite('the schedule', () => {
  test('grows from five seconds to thirty minutes, for four hours', () => {
    assert.equal(RETRY_DELAYS_MS[0], 5_000);
    assert.equal(RETRY_DELAYS_MS.at(-1), 1_800_000);
    assert.deepEqual(
      [...RETRY_DELAYS_MS].sort((a, b) => a - b),
      RETRY_DELAYS_MS,
    );
    assert.equal(RETRY_WINDOW_MS, 14_400_000);
  });

  test('has a tier for each delay and one for what was never tried, which waits for nothing', () => {
    assert.deepEqual(TIERS, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert.equal(retrySchedule(1).delayMs(0), 0);
  });

  test('is divided exactly by any scale', () => {
    const check = (scale: number) => {
      const schedule = retrySchedule(scale);
      assert.equal(schedule.windowMs, RETRY_WINDOW_MS / scale);
      for (const [index, delayMs] of RETRY_DELAYS_MS.entries())
        assert.equal(schedule.delayMs(index + 1), delayMs / scale);
    };
    fc.assert(fc.property(fc.integer({ min: 1, max: 10_000 }), check));
  });

  test('takes the longest step that still fits when the next one does not', () => {
    const { tierAfter } = retrySchedule(1);
    assert.equal(tierAfter(8, 1_980_001), 8);
    assert.equal(tierAfter(8, 1_979_999), 7);
    assert.equal(tierAfter(8, 1_319_999), 6);
    assert.equal(tierAfter(8, 659_999), 5);
    assert.equal(tierAfter(8, 329_999), 4);
    assert.equal(tierAfter(8, 131_999), undefined, 'steps below two minutes are only for the beginning');
    assert.equal(tierAfter(1, 5_501), 1);
    assert.equal(tierAfter(1, 5_499), undefined);
    assert.equal(tierAfter(100, RETRY_WINDOW_MS), 8);
  });

  test('begins anew when its destination is resumed: time that it was paused does not count', () => {
    const schedule = retrySchedule(1);
    const delivery = aDelivery({ attempts: 9, firstAttemptAt: 0 });
    const given = { delivery, answers: answersOf(failure('timeout')), policy: 'any', schedule, dice: 0 } as const;
    const now = RETRY_WINDOW_MS + 1_000;
    assert.deepEqual(judge({ ...given, now }).outcome, { kind: 'expired' });
    const resumed = judge({ ...given, now, resumedAt: now - 1_000 }).outcome;
    assert.deepEqual(resumed, { kind: 'retry', tier: 8, dueAt: now + 1_800_000 });
    const earlier = judge({ ...given, now: 1_000, resumedAt: -1_000 }).outcome;
    assert.deepEqual(
      earlier,
      { kind: 'retry', tier: 8, dueAt: 1_801_000 },
      'a resume before the first attempt is none',
    );
  });
});
