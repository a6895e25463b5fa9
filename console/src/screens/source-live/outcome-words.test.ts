import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { inWords, isFiltered } from './live-search.ts';
import { standingOf } from '../../format/standings.ts';
import { isOver, reasonOf, summaryOf } from './outcome-words.ts';

suite('outcomes in words', () => {
  test('are counted by what they mean', () => {
    assert.equal(summaryOf(['delivered', 'discarded', 'expired', 'skipped']), '1 delivered, 2 given up, 1 skipped');
    assert.equal(summaryOf([]), '');
  });

  test('have a shape also when they are new', () => {
    assert.deepEqual(standingOf('teleported'), { state: 'waiting', word: 'teleported' });
  });

  test('are over when each has ended, or when no destination is there to have one', () => {
    const none = { destinations: [] };
    assert.equal(isOver({ destinations: [{ state: 'delivered' }, { state: 'skipped' }] }, 2), true);
    assert.equal(isOver({ destinations: [{ state: 'delivered' }, { state: 'pending' }] }, 2), false);
    assert.equal(isOver(none, 1), false);
    assert.equal(isOver(none, undefined), false);
    assert.equal(isOver(none, 0), true);
  });

  test('give the reason, and the rule of a filter', () => {
    assert.equal(reasonOf(['filtered', 'userId exists']), 'stopped by the rule userId exists');
    assert.equal(reasonOf(['blocked_event']), 'the event is blocked');
    assert.equal(reasonOf(['503', '200']), 'answered 503, answered 200');
    assert.equal(reasonOf(undefined), '');
  });
});

suite('filters of the tail', () => {
  test('are said in words', () => {
    assert.equal(inWords({ type: 'track', event: 'Paid', userId: 'u_1' }), 'track calls named “Paid” of user u_1');
    assert.equal(inWords({ only: 'refused' }), 'refused calls');
    assert.equal(isFiltered({ show: 'm1' }), false);
  });
});
