import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Failure } from '../output/failures.ts';
import { checkFailureRules, pickFailure, readDuration, readFailureRule } from './inject-failures.ts';

suite('injected failures', () => {
  test('are read from --fail', () => {
    assert.deepEqual(readFailureRule('503:30%'), { what: 503, share: 0.3 });
    assert.deepEqual(readFailureRule('timeout:0.5%'), { what: 'timeout', share: 0.005 });
    assert.deepEqual(readFailureRule('reset'), { what: 'reset', share: 1 });
  });

  test('that cannot be read end in a sentence that shows the form', () => {
    for (const text of ['503:30', '101:5%', '999', 'hang:5%', '503:101%', '', '503:-1%']) {
      assert.throws(
        () => readFailureRule(text),
        (error) => error instanceof Failure && error.exit === 'usage',
        text,
      );
    }
    assert.throws(
      () => checkFailureRules([readFailureRule('503:60%'), readFailureRule('reset:50%')]),
      /add up to 110%/,
    );
    checkFailureRules([readFailureRule('503:70%'), readFailureRule('reset:20%'), readFailureRule('timeout:10%')]);
  });

  test('take their share of the requests, and leave the rest alone', () => {
    const rules = [readFailureRule('503:30%'), readFailureRule('reset:5%')];
    const counts = new Map<unknown, number>();
    for (let dice = 0; dice < 1_000; dice += 1) {
      const picked = pickFailure(rules, (dice + 0.5) / 1_000);
      counts.set(picked, (counts.get(picked) ?? 0) + 1);
    }
    assert.deepEqual(Object.fromEntries(counts), { 503: 300, reset: 50, undefined: 650 });
    assert.equal(pickFailure([], 0), undefined);
  });
});

test('lengths of time have a unit', () => {
  assert.deepEqual(
    ['500ms', '2s', '1.5m', '1h', '1d'].map((text) => readDuration('--delay', text)),
    [500, 2_000, 90_000, 3_600_000, 86_400_000],
  );
  for (const text of ['2', 's', '-1s', '2 s', '1w'])
    assert.throws(() => readDuration('--delay', text), /--delay does not take/);
});
