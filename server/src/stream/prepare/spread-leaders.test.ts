import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { nextMove } from './spread-leaders.ts';
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
