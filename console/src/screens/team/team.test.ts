import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { actionWords, differencesOf, type Entry, matches, namesInLog, valueWords } from './audit-words.ts';
import { countRoles, grantable } from './roles.ts';

const entry = (sequence: number, action: string, details: Record<string, unknown>): Entry => ({
  sequence,
  at: '2026-11-16T11:38:42Z',
  actor: { kind: 'user', id: 'usr_1', address: '127.0.0.1' },
  action,
  objectId: 'dst_1',
  details,
});

suite('roles', () => {
  test('are given up to one’s own', () => {
    assert.deepEqual(grantable('admin'), ['admin', 'developer', 'viewer', 'viewer-without-payloads']);
    assert.deepEqual(grantable('viewer'), ['viewer', 'viewer-without-payloads']);
  });

  test('are counted', () => {
    assert.equal(countRoles(['viewer', 'owner', 'viewer']), '1 owner, 2 viewers');
    const bare = 'viewer-without-payloads';
    assert.equal(countRoles([bare, bare, 'viewer']), '1 viewer, 2 viewers without payloads');
  });
});

suite('the audit log', () => {
  test('shows the value before, where an older entry has it', () => {
    const created = entry(1, 'destination.created', {
      name: 'Old',
      enabled: true,
      settings: ['targets', 'sharedSecret'],
    });
    const renamed = entry(2, 'destination.changed', { name: 'New', paused: true, settings: ['targets'] });
    const blocked = entry(2, 'event.blocked', { name: 'Order Completed' });
    assert.deepEqual(differencesOf(renamed, [blocked, created]), [
      { name: 'name', before: 'Old', after: 'New' },
      { name: 'paused', after: 'yes' },
      { name: 'settings set', after: 'targets' },
    ]);
    assert.deepEqual(differencesOf(created, []), [
      { name: 'name', after: 'Old' },
      { name: 'enabled', after: 'yes' },
      { name: 'settings set', after: 'targets, sharedSecret' },
    ]);
  });

  test('tells the last name of a thing that is gone', () => {
    const deleted = entry(5, 'destination.deleted', { name: 'Newer' });
    const blocked = entry(6, 'event.blocked', { name: 'Order Completed' });
    assert.deepEqual(
      namesInLog([blocked, deleted, entry(1, 'destination.created', { name: 'Old' })]).get('dst_1'),
      'Newer',
    );
  });

  test('shows both roles of a member', () => {
    const changed = entry(3, 'member.changed', { from: 'viewer', to: 'admin' });
    assert.deepEqual(differencesOf(changed, []), [{ name: 'role', before: 'viewer', after: 'admin' }]);
  });

  test('says values and unknown actions as words', () => {
    assert.deepEqual([null, [], ['a', 'b'], { a: 1 }].map(valueWords), ['none', 'none', 'a, b', '{"a":1}']);
    assert.equal(actionWords('thing.newly_done'), 'thing newly done');
  });

  test('is searched by words, codes, ids and values', () => {
    const one = entry(4, 'destination.changed', { name: 'Orders' });
    const finds = (filter: string) => matches(one, 'Jonas Beck', 'Orders to ERP', filter);
    assert.deepEqual(['jonas', 'ORDERS', 'dst_1', 'destination.changed', 'Mara'].map(finds), [
      true,
      true,
      true,
      true,
      false,
    ]);
  });
});
