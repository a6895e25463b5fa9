import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { hashOfRecoveryCode, makeRecoveryCode } from './recovery-codes.ts';

suite('a recovery code', () => {
  test('has sixteen characters that people do not misread', () => {
    const codes = Array.from({ length: 200 }, makeRecoveryCode);
    for (const code of codes) assert.match(code, /^[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){3}$/);
    assert.equal(new Set(codes).size, 200);
  });

  test('is recognised however it is typed, and for its account alone', () => {
    const made = hashOfRecoveryCode('usr_1', '0123-abcd-1fgh-jkmn');
    for (const typed of ['O123 ABCD lfgh jkmn', '0123abcdifghjkmn', ' 0123-abcd-1fgh-jkmn\n']) {
      assert.deepEqual(hashOfRecoveryCode('usr_1', typed), made, typed);
    }
    assert.notDeepEqual(hashOfRecoveryCode('usr_2', '0123-abcd-1fgh-jkmn'), made);
  });
});
