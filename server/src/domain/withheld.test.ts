import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AcceptedEvent } from '@millrace/contract';
import { anonymousName, userHash, withheld } from './withheld.ts';

const mark = { erasedBefore: Date.parse('2026-01-02T00:00:00Z'), isSuppressed: true };
const markOf = (id: string) => (id === 'gone' ? mark : undefined);
const times = { context: {}, timestamp: '2026-01-01T00:00:00Z' };
const event = (change: object) =>
  ({
    type: 'track',
    event: 'E',
    messageId: 'm',
    receivedAt: '2026-01-01T00:00:00Z',
    ...times,
    ...change,
  }) as AcceptedEvent;

suite('an event of a user who asked to be forgotten', () => {
  test('is erased when it came before', () => {
    assert.equal(withheld(event({ userId: 'gone' }), markOf), 'erased');
  });

  test('is suppressed when it came later, if that was asked for', () => {
    const later = event({ userId: 'gone', receivedAt: '2026-01-02T00:00:00Z' });
    assert.equal(withheld(later, markOf), 'suppressed');
    assert.equal(
      withheld(later, () => ({ ...mark, isSuppressed: false })),
      undefined,
    );
  });

  test('is one also if it only tells of an earlier id of theirs', () => {
    assert.equal(withheld(event({ type: 'alias', userId: 'new', previousId: 'gone' }), markOf), 'erased');
  });

  test('is one if it has only an anonymousId of theirs, and none if another user was signed in', () => {
    const marked = (name: string) => markOf(name === anonymousName('phone') ? 'gone' : name);
    assert.equal(withheld(event({ anonymousId: 'phone' }), marked), 'erased');
    assert.equal(withheld(event({ anonymousId: 'phone', userId: 'other' }), marked), undefined);
    assert.equal(withheld(event({ userId: 'phone' }), marked), undefined);
  });

  test('is none if it is of somebody else, of nobody, or the deletion itself', () => {
    assert.equal(withheld(event({ userId: 'other' }), markOf), undefined);
    assert.equal(withheld(event({ anonymousId: 'gone' }), markOf), undefined);
    const deletion = { type: 'delete', userId: 'gone', messageId: 'm', receivedAt: '2025-01-01T00:00:00Z' } as const;
    assert.equal(withheld({ ...deletion, timestamp: deletion.receivedAt }, markOf), undefined);
  });

  test('is known by a hash that differs between workspaces', () => {
    assert.notEqual(userHash('ws_1', 'gone'), userHash('ws_2', 'gone'));
  });
});
