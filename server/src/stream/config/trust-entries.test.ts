import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { EntryVerdict } from '../../secrets/sign-entry.ts';
import { openTrust } from './trust-entries.ts';

/** The text of an entry is its verdict. */
function bed(mayBeUnsigned = false) {
  const held = new Set<string>();
  const refused: string[] = [];
  const clock = { now: 0 };
  const trust = openTrust({
    check: ({ text }) => text as EntryVerdict,
    mayBeUnsigned,
    isHeld: (key) => held.has(key),
    isDestination: (key) => key.startsWith('destination.'),
    refused: (key, why) => refused.push(`${key} ${why}`),
    now: () => clock.now,
  });
  const judge = (key: string, text: EntryVerdict, isDeletion: boolean) => {
    const judged = trust.judge({ key, text, isDeletion });
    if (judged !== 'keep' && isDeletion) held.delete(key);
    else if (judged !== 'keep') held.add(key);
    return judged;
  };
  return {
    put: (key: string, text: EntryVerdict) => judge(key, text, false),
    remove: (key: string, text: EntryVerdict) => judge(key, text, true),
    isSettled: trust.isSettled,
    refused,
    clock,
  };
}

suite('an entry that is not authentic', () => {
  test('never takes the place of one that is', () => {
    for (const key of ['destination.d', 'source.s', 'user.u']) {
      const { put, remove, refused } = bed();
      assert.equal(put(key, 'authentic'), 'use');
      assert.equal(put(key, 'forged'), 'keep');
      assert.equal(put(key, 'unsigned'), 'keep');
      assert.equal(remove(key, 'unsigned'), 'keep');
      assert.deepEqual(refused, [`${key} forged`, `${key} unsigned`, `${key} unsigned`]);
      assert.equal(remove(key, 'authentic'), 'use');
    }
  });

  test('makes a destination wait if there is nothing else to act on, until an authentic one comes', () => {
    const { put } = bed();
    assert.equal(put('destination.d', 'unsigned'), 'hold');
    assert.equal(put('destination.d', 'forged'), 'hold');
    assert.equal(put('destination.d', 'authentic'), 'use');
    assert.equal(put('destination.d', 'unsigned'), 'keep');
  });

  test('is used for a source or a mark if there is nothing else to act on: no key is answered 401 because of it', () => {
    const { put } = bed();
    assert.equal(put('source.s', 'unsigned'), 'use');
    assert.equal(put('source.s', 'unsigned'), 'use');
    assert.equal(put('source.s', 'authentic'), 'use');
    assert.equal(put('source.s', 'unsigned'), 'keep');
    assert.equal(put('user.u', 'unsigned'), 'use');
  });

  test('is used while an upgrade allows unsigned entries, unless it is forged', () => {
    const { put, remove, refused } = bed(true);
    assert.equal(put('destination.d', 'unsigned'), 'use');
    assert.equal(put('destination.d', 'forged'), 'keep');
    assert.equal(remove('destination.d', 'unsigned'), 'use');
    assert.deepEqual(refused, ['destination.d forged']);
  });

  test('is no alarm when it is the mark of something deleted long ago', () => {
    const { remove, refused } = bed();
    remove('destination.d', 'unsigned');
    assert.deepEqual(refused, []);
  });

  test('holds up a start until control has signed everything, and for a minute at most if some are authentic', () => {
    const upgrade = bed();
    upgrade.put('destination.a', 'unsigned');
    upgrade.clock.now = 1e9;
    assert.equal(upgrade.isSettled(), false, 'nothing is authentic: control has not been upgraded');
    upgrade.put('destination.a', 'authentic');
    assert.equal(upgrade.isSettled(), true);
    upgrade.put('destination.b', 'forged');
    assert.equal(upgrade.isSettled(), true, 'once settled, one entry holds up its own destination only');

    const attack = bed();
    attack.put('destination.a', 'authentic');
    attack.put('destination.b', 'forged');
    assert.equal(attack.isSettled(), false);
    attack.clock.now = 60_001;
    assert.equal(attack.isSettled(), true);
  });
});
