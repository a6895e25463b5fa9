import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { judgeOutage, type Outage } from './judge-outage.ts';
import { judge, judgeWithSilences, type Promises, type StoredEvent } from './judge.ts';
import { longestGapMs } from './measure-attempts.ts';
import { type Attempt, openOracle } from './oracle.ts';
import { readingProblems } from './read-stored.ts';
import { silencesIn } from './read-silences.ts';
import { planSchedule } from './schedule.ts';
import { seededRandom } from './seeded-random.ts';

const EXACTLY_ONCE: Promises = { duplicates: 'never', statuses: [200, 503], areResetsFine: true };
const MAY_MOVE: Promises = { ...EXACTLY_ONCE, duplicates: 'across_streams' };

const attempt = (outcome: number | string, startedAt = 100, endedAt = 110): Attempt => ({
  startedAt,
  endedAt,
  outcome,
  hasRetryAfter: outcome === 503,
});

const stored = (messageId: string, place = 'EVENTS-0#1', sourceId = 'src_1'): StoredEvent => {
  const [stream = '', sequence = ''] = place.split('#');
  return { stream, sequence: Number(sequence), sourceId, messageId, receivedAt: 105 };
};

/** Two calls in one batch, answered 200 in the second attempt. */
function knowing(...outcomes: (number | string)[]) {
  const oracle = openOracle();
  const batch = { sourceId: 'src_1', ids: ['a', 'b'] };
  oracle.noteSent(batch, 90);
  for (const outcome of outcomes) oracle.noteAttempt(batch, attempt(outcome));
  return { calls: oracle.calls, attempts: oracle.attempts, disturbances: [] };
}

suite('the verdict is green', () => {
  test('when every call answered 200 is stored once', () => {
    const evidence = { ...knowing(503, 'ECONNRESET', 200), stored: [stored('a'), stored('b')] };
    assert.deepEqual(judge(evidence, EXACTLY_ONCE).failures, []);
  });

  test('when a request under way during a disturbance is in two streams', () => {
    const twice = [stored('a'), stored('b'), stored('a', 'EVENTS-1#1'), stored('b', 'EVENTS-1#1')];
    const verdict = judge({ ...knowing(503, 200), stored: twice, disturbances: [{ from: 95, to: 120 }] }, MAY_MOVE);
    assert.deepEqual(verdict.failures, []);
    assert.equal(verdict.duplicates.length, 2);
  });
});

suite('the verdict is red', () => {
  test('when a call answered 200 is lost', () => {
    const { failures, lost } = judge({ ...knowing(200), stored: [stored('a')] }, MAY_MOVE);
    assert.deepEqual(lost, ['b']);
    assert.match(failures.join(), /1 calls answered 200 and not stored: b/);
  });

  test('when a call is twice in one stream, whatever happened meanwhile', () => {
    const twice = [stored('a'), stored('b'), stored('b', 'EVENTS-0#2')];
    const { failures } = judge({ ...knowing(200), stored: twice, disturbances: [{ from: 0, to: 999 }] }, MAY_MOVE);
    assert.match(failures.join(), /b \(twice in one stream\)/);
  });

  test('when a call is in two streams and was promised to be stored once', () => {
    const twice = [stored('a'), stored('b'), stored('b', 'EVENTS-1#2')];
    assert.match(judge({ ...knowing(200), stored: twice }, EXACTLY_ONCE).failures.join(), /b \(in two streams/);
  });

  test('when a call is in two streams though nothing disturbed them at the time', () => {
    const twice = [stored('a'), stored('b'), stored('b', 'EVENTS-1#2')];
    const evidence = { ...knowing(200), stored: twice, disturbances: [{ from: 500, to: 999 }] };
    assert.match(judge(evidence, MAY_MOVE).failures.join(), /while nothing disturbed them/);
  });

  test('when something is stored that nobody sent', () => {
    const { failures, ghosts } = judge({ ...knowing(200), stored: [stored('a'), stored('b'), stored('g')] }, MAY_MOVE);
    assert.deepEqual(ghosts, ['g']);
    assert.match(failures.join(), /stored and never sent: g/);
  });

  test('when a call is stored for another source', () => {
    const stray = [stored('a'), stored('b', 'EVENTS-0#1', 'src_2')];
    assert.match(judge({ ...knowing(200), stored: stray }, MAY_MOVE).failures.join(), /did not send it: b/);
  });

  test('when a client sees a 500, no answer, or a reset that was not promised', () => {
    for (const outcome of [500, 401, 'timeout'] as const) {
      const evidence = { ...knowing(outcome, 200), stored: [stored('a'), stored('b')] };
      assert.deepEqual(judge(evidence, EXACTLY_ONCE).failures, [`1 requests ended with ${outcome}`]);
    }
    const reset = { ...knowing('ECONNRESET', 200), stored: [stored('a'), stored('b')] };
    assert.equal(judge(reset, { ...EXACTLY_ONCE, areResetsFine: false }).failures.length, 1);
  });

  test('when a batch is still not answered 200 at the end', () => {
    assert.match(judge({ ...knowing(503), stored: [] }, MAY_MOVE).failures.join(), /2 calls still not answered/);
  });

  test('when the reader saw less than the leader holds', () => {
    const problems = readingProblems([stored('a'), stored('b')], new Map([['EVENTS-0', 2]]));
    assert.deepEqual(problems, ['EVENTS-0 holds 2 requests, but 1 were read']);
  });
});

suite('what collect does when it hears nothing from a stream is lateness', () => {
  const twice = [stored('a'), stored('b'), stored('b', 'EVENTS-1#2')];
  const evidence = { ...knowing(503, 200), stored: twice };
  const only200: Promises = { ...EXACTLY_ONCE, statuses: [200] };

  test('when it moved or refused a request at that time', () => {
    const { failures, late } = judgeWithSilences({ ...evidence, silences: [{ from: 105, to: 900 }] }, only200);
    assert.deepEqual(failures, []);
    assert.match(late.join(), /b \(in two streams.*1 requests ended with 503/);
  });

  test('and a failure at any other time', () => {
    const { failures, late } = judgeWithSilences({ ...evidence, silences: [{ from: 111, to: 900 }] }, only200);
    assert.match(failures.join(), /b \(in two streams.*1 requests ended with 503/);
    assert.deepEqual(late, []);
  });

  test('but not that something is lost, is twice in one stream, or was answered 500', () => {
    const bad = { ...knowing(500, 200), stored: [stored('a'), stored('a', 'EVENTS-0#2')] };
    const { failures, late } = judgeWithSilences({ ...bad, silences: [{ from: 0, to: Infinity }] }, only200);
    assert.match(failures.join(), /not stored: b.*twice in one stream.*ended with 500/);
    assert.deepEqual(late, []);
  });

  test('from the line in its log that says so to the one that takes it back, or the next start', () => {
    // A log knows whole milliseconds only.
    const origin = Math.ceil(performance.timeOrigin);
    const line = (at: number, msg: string, more = {}) =>
      JSON.stringify({ time: new Date(origin + at).toISOString(), ...more, msg });
    const log = [
      line(0, 'server.started'),
      line(1_000, 'stream.troubled', { stream: 'EVENTS-0', trouble: 'silent' }),
      line(1_500, 'stream.recovered', { stream: 'EVENTS-1' }),
      line(2_000, 'stream.recovered', { stream: 'EVENTS-0' }),
      line(2_500, 'stream.troubled', { stream: 'EVENTS-0', trouble: 'no_leader' }),
      line(3_000, 'stream.troubled', { stream: 'EVENTS-1', trouble: 'silent' }),
      '{"cut short by a kill": "stream.recov',
      line(4_000, 'server.started'),
      line(5_000, 'stream.troubled', { stream: 'EVENTS-1', trouble: 'silent' }),
      '',
    ];
    const whole = silencesIn(log.join('\n')).map(({ from, to }) => [Math.floor(from), Math.floor(to)]);
    assert.deepEqual(whole, [
      [1_000, 2_000],
      [3_000, 4_000],
      [5_000, Infinity],
    ]);
  });
});

suite('an outage', () => {
  const outage: Outage = {
    signal: 'SIGKILL',
    from: 0,
    goneAt: 0,
    returnedAt: 3_000,
    untilLeadersMs: 4_000,
    untilStoredMs: 4_100,
    redWithinMs: 1_500,
  };
  const red = { askedAt: 100, answeredAt: 101, status: 503 };
  const green = { askedAt: 7_200, answeredAt: 7_201, status: 200 };

  test('is green when clients heard 503 at once and all healed by itself', () => {
    const { failures, late } = judgeOutage(outage, [attempt(503)], [red, green]);
    assert.deepEqual([...failures, ...late], []);
  });

  const broken: Record<string, Parameters<typeof judgeOutage>> = {
    'a 503 had no Retry-After': [outage, [{ ...attempt(503), hasRetryAfter: false }], [red, green]],
    'a request was answered 200 without an engine': [outage, [attempt(503), attempt(200)], [red, green]],
    'nobody was refused': [outage, [], [red, green]],
    '/readyz stayed green': [outage, [attempt(503)], [{ ...red, askedAt: 2_000, status: 200 }, green]],
    '/readyz was green in between': [outage, [attempt(503)], [red, { ...red, askedAt: 2_000, status: 200 }, green]],
  };
  for (const [what, evidence] of Object.entries(broken)) {
    test(`is red when ${what}`, () => assert.notDeepEqual(judgeOutage(...evidence).failures, []));
  }

  const wronglyGreen = { askedAt: 1_600, answeredAt: 1_601, status: 200 };
  const tooLate: Record<string, Parameters<typeof judgeOutage>> = {
    'a 503 took longer than a second': [outage, [attempt(503, 100, 1_101)], [red, green]],
    '/readyz turned red late': [
      outage,
      [attempt(503)],
      [wronglyGreen, { ...red, askedAt: 1_700, answeredAt: 1_701 }, green],
    ],
    '/readyz came back late': [outage, [attempt(503)], [red, { ...green, answeredAt: 12_001 }]],
    'a 200 came back late': [{ ...outage, untilStoredMs: 9_001 }, [attempt(503)], [red, green]],
  };
  for (const [what, evidence] of Object.entries(tooLate)) {
    test(`is late and nothing else when ${what}`, () => {
      const { failures, late } = judgeOutage(...evidence);
      assert.deepEqual(failures, []);
      assert.equal(late.length, 1, late.join('; '));
    });
  }
});

test('the longest time without a 200 counts from the start of a span to its end', () => {
  const attempts = [attempt(200, 0, 10), attempt(503, 0, 500), attempt(200, 0, 400), attempt(200, 0, 1_200)];
  assert.equal(longestGapMs(attempts, { from: 0, to: 1_000 }), 600);
  assert.equal(longestGapMs(attempts, { from: 0, to: 1_300 }), 800);
});

test('the same seed makes the same schedule, another seed another', () => {
  const plan = (seed: number) =>
    planSchedule(seededRandom(seed), { lengthMs: 60_000, everyMs: [2_000, 5_000], quietEndMs: 1_000 });
  assert.deepEqual(plan(7), plan(7));
  assert.notDeepEqual(plan(7), plan(8));
  assert.ok(plan(7).atMs.length >= 12);
});
