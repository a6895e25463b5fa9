import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { nextMove, openLeaderMoves } from './spread-leaders.ts';
import type { SurveyedStream } from './survey.ts';

const on = (name: string, leader: string | undefined, peers: string[], isCurrent = true): SurveyedStream => ({
  name,
  leader,
  peers,
  isCurrent,
  subjects: [],
  maxBytes: 1,
  usedBytes: 0,
});
const ALL = ['n1', 'n2', 'n3'];

suite('leaders', () => {
  test('move from a server that leads two more than another one that holds the stream', () => {
    const streams = [on('EVENTS-0', 'n1', ALL), on('EVENTS-1', 'n1', ALL), on('EVENTS-2', 'n2', ALL)];
    assert.deepEqual(nextMove(streams), { stream: 'EVENTS-0', from: 'n1', to: 'n3' });
  });

  test('stay when a move gains nothing, when no replica is up to date, and of streams that there is one of', () => {
    assert.equal(nextMove([on('EVENTS-0', 'n1', ALL), on('EVENTS-1', 'n2', ALL)]), undefined);
    const behind = [on('EVENTS-0', 'n1', ALL, false), on('EVENTS-1', 'n1', ALL, false)];
    assert.equal(nextMove(behind), undefined);
    assert.equal(nextMove([on('DEAD', 'n1', ALL), on('TICKETS', 'n1', ALL)]), undefined);
    assert.equal(nextMove([on('EVENTS-0', undefined, ALL), on('EVENTS-1', undefined, ALL)]), undefined);
  });

  test('are counted by kind, and moved to a server that came', () => {
    const streams = [
      on('LANES-0', 'n1', ALL),
      on('EVENTS-0', 'n2', ALL),
      on('EVENTS-1', 'n2', ALL),
      on('EVENTS-2', 'n2', ['n2', 'n3', 'n4']),
      on('EVENTS-3', 'n1', ['n1', 'n3', 'n4']),
      on('EVENTS-4', 'n3', ['n1', 'n3', 'n4']),
    ];
    assert.deepEqual(nextMove(streams), { stream: 'EVENTS-2', from: 'n2', to: 'n4' });
  });
});

suite('a wish for other leaders', () => {
  const MINUTE = 60_000;
  const uneven = [on('EVENTS-0', 'n1', ALL), on('EVENTS-1', 'n1', ALL), on('EVENTS-2', 'n2', ALL)];
  function openSpread() {
    const clock = { ms: 7 * MINUTE };
    const spread = openLeaderMoves(() => clock.ms);
    return {
      spread,
      after(ms: number, streams = uneven): string | undefined {
        clock.ms += ms;
        return spread.next(streams)?.stream;
      },
    };
  }

  test('waits for five minutes, and begins to wait again when the leaders were even', () => {
    const { after } = openSpread();
    assert.deepEqual([after(0), after(4 * MINUTE), after(0, []), after(2 * MINUTE)], Array(4).fill(undefined));
    assert.equal(after(5 * MINUTE), 'EVENTS-0');
  });

  test('is uttered at once when streams were made', () => {
    const { spread, after } = openSpread();
    spread.noteMade();
    assert.equal(after(0), 'EVENTS-0');
  });

  test('that NATS does not follow is not repeated for the same stream before five minutes have passed', () => {
    const { spread, after } = openSpread();
    spread.noteMade();
    assert.deepEqual(
      [after(0), after(10_000), after(10_000), after(10_000)],
      ['EVENTS-0', 'EVENTS-1', undefined, undefined],
    );
    assert.equal(after(5 * MINUTE), 'EVENTS-0');
  });
});
