import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { ERROR_CLASSES } from '../client/error-classes.ts';
import type { Answer } from '../client/post.ts';
import {
  askedToWait,
  concurrencyOf,
  type Gate,
  isShut,
  LATE_MS,
  learn,
  MAX_LIMIT,
  newGate,
  noteLate,
  quietUntil,
  scarceConcurrency,
  sentenceOf,
  standingOf,
  takeToken,
  wasSent,
} from './gate.ts';
import { answersOf, aWebhook, failure, status } from '../../../testing/samples.ts';

const NOW = 1_000_000;
const GOOD = status(200);
const BAD = status(503);
const TIMEOUT = failure('timeout', 5_000);

function answered(gate: Gate, ...answers: Answer[]) {
  return learn(gate, { startedAt: NOW, answers: answersOf(...answers) }, { now: NOW, fairMs: NOW });
}

function after(times: number, answer: Answer, gate = newGate('dst_1', NOW)): Gate {
  for (let time = 0; time < times; time += 1) answered(gate, answer);
  return gate;
}

suite('the limit of a gate', () => {
  test('starts at eight, grows by one for every good answer up to sixteen, and then by one for every round', () => {
    assert.equal(newGate('dst_1', NOW).limit, 8);
    assert.equal(after(1, GOOD).limit, 9);
    assert.equal(after(8, GOOD).limit, 16);
    const gate = after(8 + 16, GOOD);
    assert.ok(gate.limit > 16.9 && gate.limit <= 17, `${gate.limit} after one round of 16`);
  });

  test('never grows beyond what one destination may have of a process', () => {
    assert.equal(after(20_000, GOOD).limit, MAX_LIMIT);
  });

  test('halves with every failure, and never falls below one', () => {
    assert.equal(after(1, BAD).limit, 4);
    assert.equal(after(2, BAD).limit, 2);
    assert.equal(after(50, BAD).limit, 1);
  });

  test('does not grow while the receiver answers far more slowly than it used to', () => {
    const gate = after(5, status(200, { ms: 40 }));
    const before = gate.limit;
    answered(gate, status(200, { ms: 200 }));
    assert.equal(gate.limit, before);
    answered(gate, status(200, { ms: 49 }));
    assert.equal(gate.limit, before + 1, 'below fifty milliseconds nothing is called slow');
  });
});

suite('the breaker', () => {
  test('opens at the tenth failure in a row, and says so once', () => {
    const gate = after(9, BAD);
    assert.equal(isShut(gate, NOW), false);
    assert.equal(answered(gate, BAD), 'shut');
    assert.equal(isShut(gate, NOW), true);
    assert.deepEqual(gate.shut, { why: 'failing', sentence: 'the receiver answered 503', since: NOW });
    assert.equal(answered(gate, BAD), undefined);
  });

  test('opens at the fourth answer in a row that was cut off for its length: it costs as much as a timeout', () => {
    const gate = after(3, failure('answer_too_large'));
    assert.equal(isShut(gate, NOW), false);
    assert.equal(answered(gate, failure('answer_too_large')), 'shut');
  });

  test('opens at the fourth timeout in a row: one costs as much as three failures', () => {
    const gate = after(3, TIMEOUT);
    assert.equal(isShut(gate, NOW), false);
    assert.equal(answered(gate, TIMEOUT), 'shut');
  });

  test('counts mixed failures by their weight', () => {
    const gate = after(7, BAD, after(0, BAD));
    assert.equal(isShut(gate, NOW), false);
    assert.equal(answered(gate, TIMEOUT), 'shut');
  });

  test('counts from the beginning after one good answer', () => {
    const gate = after(9, BAD);
    answered(gate, GOOD);
    assert.equal(gate.failures, 0);
    after(9, BAD, gate);
    assert.equal(isShut(gate, NOW), false);
  });

  test('closes with one good answer, and the receiver is then met with care', () => {
    const gate = after(12, BAD);
    assert.equal(answered(gate, GOOD), 'opened');
    assert.equal(isShut(gate, NOW), false);
    assert.equal(gate.limit, 2);
    assert.equal(gate.failures, 0);
  });

  test('takes a refusal for a sign of life: who says 4xx or 3xx works', () => {
    for (const code of [301, 400, 404, 410, 422]) {
      const gate = after(9, BAD);
      answered(gate, status(code));
      assert.equal(gate.failures, 0, String(code));
      assert.equal(standingOf(gate, NOW), 'works');
    }
    const gate = after(12, BAD);
    assert.equal(answered(gate, status(404)), 'opened');
  });

  test('counts 408, 429 and 5xx as failures', () => {
    for (const code of [408, 429, 500, 502, 599]) assert.equal(after(1, status(code)).failures, 1, String(code));
  });

  test('looks at all targets: one that works is enough', () => {
    const gate = newGate('dst_1', NOW);
    answered(gate, TIMEOUT, BAD, GOOD);
    assert.equal(gate.failures, 0);
    answered(gate, BAD, TIMEOUT);
    assert.equal(gate.failures, 3, 'one that timed out costs the slot');
  });

  test('tells what the receiver said last', () => {
    const gate = after(12, BAD);
    answered(gate, failure('connection_refused'));
    assert.equal(gate.shut?.sentence, 'it was connection_refused');
    assert.equal(sentenceOf([]), 'there was no answer');
  });
});

suite('the standing of a receiver', () => {
  const standing = (gate: Gate) => standingOf(gate, NOW);

  test('is unknown until its first answer, unless another process delivered to it lately', () => {
    assert.equal(standing(newGate('dst_1', NOW)), 'unknown');
    assert.equal(standing(newGate('dst_1', NOW, true)), 'works');
    assert.equal(standing(after(1, GOOD)), 'works');
  });

  test('is failing after one failure if it never worked, after three or a timeout if it did', () => {
    assert.equal(standing(after(1, BAD)), 'failing');
    const known = after(2, BAD, newGate('dst_1', NOW, true));
    assert.equal(standing(known), 'works', 'one that fails now and then works');
    assert.equal(standing(after(1, BAD, known)), 'failing');
    assert.equal(standing(after(1, TIMEOUT, after(5, GOOD))), 'failing');
    assert.equal(standing(after(1, GOOD, known)), 'works');
  });

  test('is failing while its gate is shut', () => {
    const gate = after(5, GOOD);
    gate.shut = { why: 'asked_to_wait', sentence: '', since: NOW, until: NOW + 1 };
    assert.equal(standing(gate), 'failing');
    assert.equal(standingOf(gate, NOW + 1), 'works');
  });

  test('is failing while an attempt is late and nothing was answered for as long, whatever it was before', () => {
    for (const gate of [newGate('dst_1', NOW), newGate('dst_1', NOW, true), after(5, GOOD)]) {
      noteLate(gate, NOW + 1, NOW + 1 + LATE_MS);
      assert.equal(standing(gate), 'failing');
      answered(gate, GOOD);
      assert.equal(standing(gate), 'works', 'an answer ends the doubt');
    }
  });

  test('is not doubted for one slow attempt among others that were answered', () => {
    const gate = after(5, GOOD);
    noteLate(gate, NOW - 5_000, NOW);
    assert.equal(standing(gate), 'works');
  });

  test('is doubted by its own measure: one that takes a second is not late after two', () => {
    const gate = after(5, status(200, { ms: 1_000 }));
    noteLate(gate, NOW + 1, NOW + 2_001);
    assert.equal(standing(gate), 'works');
    noteLate(gate, NOW + 1, NOW + 3_001);
    assert.equal(standing(gate), 'failing');
  });

  test('is not doubted any more when it was we who did not send', () => {
    const gate = after(5, GOOD);
    noteLate(gate, NOW + 1, NOW + 1 + LATE_MS);
    answered(gate, failure('not_sent'));
    assert.equal(standing(gate), 'works');
  });
});

suite('while slots are scarce', () => {
  test('a receiver that did not answer in the last second gets one attempt at a time', () => {
    assert.equal(scarceConcurrency(newGate('dst_1', NOW), NOW), 1);
    assert.equal(scarceConcurrency(newGate('dst_1', NOW, true), NOW), 1);
    const gate = after(50, GOOD);
    assert.equal(scarceConcurrency(gate, NOW + 999), MAX_LIMIT);
    assert.equal(scarceConcurrency(gate, NOW + 1_000), 1);
  });

  test('a slow receiver gets fewer, as each holds its slot for longer', () => {
    assert.equal(scarceConcurrency(after(5, status(200, { ms: LATE_MS })), NOW), MAX_LIMIT);
    assert.equal(scarceConcurrency(after(5, status(200, { ms: 1_200 })), NOW), MAX_LIMIT / 4);
    assert.equal(scarceConcurrency(after(5, status(200, { ms: 4_800 })), NOW), MAX_LIMIT / 16);
  });
});

suite('what we could not send ourselves', () => {
  test('teaches nothing, neither good nor bad', () => {
    for (const each of ['not_sent', 'stopped'] as const) {
      const gate = after(3, BAD);
      const before = { ...gate };
      assert.equal(answered(gate, failure(each)), undefined);
      assert.deepEqual(gate, before, each);
    }
  });

  test('is no attempt; everything else is', () => {
    const unsent = ERROR_CLASSES.filter((each) => !wasSent(failure(each)));
    assert.deepEqual(unsent.sort(), ['not_sent', 'stopped']);
    assert.equal(wasSent(status(500)), true);
  });

  test('does not hide what the other targets answered', () => {
    const gate = newGate('dst_1', NOW);
    answered(gate, failure('not_sent'), BAD);
    assert.equal(gate.failures, 1);
  });
});

suite('a receiver that asked for quiet', () => {
  test('is left alone until the time it named', () => {
    const gate = newGate('dst_1', NOW);
    gate.shut = { why: 'asked_to_wait', sentence: '', since: NOW, until: NOW + 1_000 };
    assert.equal(isShut(gate, NOW + 999), true);
    assert.equal(isShut(gate, NOW + 1_000), false);
    assert.equal(gate.shut, undefined);
  });

  test('is still left alone when an attempt from before ends well', () => {
    const gate = newGate('dst_1', NOW);
    gate.shut = { why: 'asked_to_wait', sentence: '', since: NOW, until: NOW + 1_000 };
    assert.equal(answered(gate, GOOD), undefined);
    assert.equal(isShut(gate, NOW), true);
  });

  test('and fails is not probed before that time, and its breaker stays open after it', () => {
    const gate = after(10, BAD);
    gate.shut = askedToWait(gate, NOW + 1_000, NOW);
    assert.deepEqual([gate.shut.why, quietUntil(gate, NOW)], ['failing', NOW + 1_000]);
    assert.deepEqual([isShut(gate, NOW + 1_000), quietUntil(gate, NOW + 1_000)], [true, undefined]);
  });

  test('and then fails ten times keeps its time', () => {
    const gate = newGate('dst_1', NOW);
    gate.shut = askedToWait(gate, NOW + 1_000, NOW);
    assert.equal(after(10, BAD, gate).shut?.why, 'failing');
    assert.equal(quietUntil(gate, NOW), NOW + 1_000);
  });

  test('for two times gets the later one', () => {
    const gate = newGate('dst_1', NOW);
    gate.shut = askedToWait(gate, NOW + 9_000, NOW);
    assert.equal(askedToWait(gate, NOW + 1_000, NOW).until, NOW + 9_000);
  });
});

suite('maxPerSecond', () => {
  /** Asks again and again at these times, and returns when it was let through. */
  function passed(perSecond: number, times: readonly number[]): number[] {
    const gate = newGate('dst_1', NOW);
    return times.filter((at) => takeToken(gate, perSecond, NOW + at));
  }

  test('without one everything passes', () => {
    const gate = newGate('dst_1', NOW);
    for (let time = 0; time < 1_000; time += 1) assert.equal(takeToken(gate, undefined, NOW), true);
  });

  test('lets exactly so many through, evenly', () => {
    const everyMs = Array.from({ length: 10_001 }, (_, index) => index);
    for (const perSecond of [1, 2, 10]) {
      const at = passed(perSecond, everyMs);
      const expected = Array.from({ length: perSecond * 10 + 1 }, (_, index) => (index * 1_000) / perSecond);
      assert.equal(at.length, expected.length, `${perSecond} a second`);
      for (const [index, each] of at.entries()) assert.ok(Math.abs(each - (expected[index] ?? 0)) <= 1 + index / 100);
    }
  });

  test('never lets more through in any second than the rate and a tenth of it, whenever it is asked', () => {
    const steps = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 50, maxLength: 400 });
    const check = (perSecond: number, gaps: number[]) => {
      let now = 0;
      const times = gaps.flatMap((gap) => Array.from({ length: 5 }, () => (now += gap / 5)));
      const at = passed(perSecond, times);
      const most = perSecond + Math.max(1, perSecond / 10);
      for (const [index, start] of at.entries()) {
        const inSecond = at.slice(index).filter((each) => each < start + 1_000).length;
        assert.ok(inSecond <= most + 1e-6, `${inSecond} in the second from ${start}, at ${perSecond} a second`);
      }
    };
    fc.assert(fc.property(fc.integer({ min: 1, max: 500 }), steps, check), { numRuns: 50 });
  });

  test('below one a second still lets one through now and then', () => {
    const everyTenth = Array.from({ length: 101 }, (_, index) => index * 100);
    assert.equal(passed(0.5, everyTenth).length, 6, 'one at once, then every two seconds for ten');
  });
});

suite('maxConcurrency', () => {
  test('is divided among the processes, rounded down', () => {
    const gate = after(50, GOOD);
    assert.equal(concurrencyOf(gate, aWebhook({ maxConcurrency: 10 }), 1), 10);
    assert.equal(concurrencyOf(gate, aWebhook({ maxConcurrency: 10 }), 3), 3);
  });

  test('that is smaller than the number of processes leaves nothing for new events: the lane’s holder keeps it whole', () => {
    assert.equal(concurrencyOf(newGate('dst_1', NOW), aWebhook({ maxConcurrency: 2 }), 3), 0);
    assert.equal(concurrencyOf(newGate('dst_1', NOW), aWebhook({ maxConcurrency: 1 }), 1), 1);
  });

  test('without one what was learned counts, and at least one may always be under way', () => {
    assert.equal(concurrencyOf(newGate('dst_1', NOW), aWebhook(), 5), 8);
    assert.equal(concurrencyOf(after(50, BAD), aWebhook(), 5), 1);
    assert.equal(concurrencyOf(after(20_000, GOOD), aWebhook(), 1), MAX_LIMIT);
  });

  test('above what was learned waits until it is learned', () => {
    assert.equal(concurrencyOf(newGate('dst_1', NOW), aWebhook({ maxConcurrency: 100 }), 1), 8);
  });
});
