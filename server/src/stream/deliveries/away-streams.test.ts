import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openAwayStreams } from './away-streams.ts';

function openSilent() {
  const clock = { ms: 100_000 };
  const away = openAwayStreams(() => clock.ms);
  const silent = (afterMs: number) => {
    clock.ms += afterMs;
    away.note(2, false);
  };
  return { clock, away, silent };
}

suite('a stream of outcomes that does not answer', () => {
  test('is asked last for five seconds', () => {
    const { clock, away, silent } = openSilent();
    silent(0);
    assert.deepEqual([away.isAway(2), away.isAway(1)], [true, false]);
    clock.ms += 5_000;
    assert.equal(away.isAway(2), false);
  });

  test('may come back for as long as an election takes, and is gone after that', () => {
    const { away, silent } = openSilent();
    silent(0);
    silent(14_000);
    assert.equal(away.mayComeBack(2), true);
    silent(1_000);
    assert.equal(away.mayComeBack(2), false);
  });

  test('begins its silence anew when it was not asked for as long as that', () => {
    const { away, silent } = openSilent();
    silent(0);
    silent(3_600_000);
    assert.equal(away.mayComeBack(2), true);
  });

  test('is back with its first answer', () => {
    const { away, silent } = openSilent();
    silent(0);
    away.note(2, true);
    assert.equal(away.isAway(2), false);
    silent(14_999);
    silent(14_000);
    assert.equal(away.mayComeBack(2), true);
  });
});
