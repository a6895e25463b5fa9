import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { codeOf, otpauthUri, stepAt, stepOfCode, toBase32 } from './totp.ts';

const SEED = Buffer.from('12345678901234567890');

suite('codes of authenticator apps', () => {
  test('are those of RFC 6238, appendix B', () => {
    const vectors: [seconds: number, code: string][] = [
      [59, '94287082'],
      [1_111_111_109, '07081804'],
      [1_111_111_111, '14050471'],
      [1_234_567_890, '89005924'],
      [2_000_000_000, '69279037'],
      [20_000_000_000, '65353130'],
    ];
    for (const [seconds, code] of vectors) {
      assert.equal(codeOf(SEED, stepAt(new Date(seconds * 1_000)), 8), code);
    }
  });

  test('are those of RFC 4226, appendix D', () => {
    const codes = ['755224', '287082', '359152', '969429', '338314', '254676', '287922', '162583', '399871', '520489'];
    assert.deepEqual(
      codes.map((_, counter) => codeOf(SEED, counter)),
      codes,
    );
  });

  test('count in their step, and in the one before and after it', () => {
    const now = new Date('2026-11-17T12:00:10Z');
    const step = stepAt(now);
    const found = [-2, -1, 0, 1, 2].map((offset) => stepOfCode(SEED, codeOf(SEED, step + offset), now));
    assert.deepEqual(found, [undefined, step - 1, step, step + 1, undefined]);
  });

  test('are refused when they are no six digits', () => {
    const now = new Date('2026-11-17T12:00:10Z');
    for (const code of ['', '1', `${codeOf(SEED, stepAt(now))}0`, 'äöüäöü']) {
      assert.equal(stepOfCode(SEED, code, now), undefined, code);
    }
  });
});

suite('the address for authenticator apps', () => {
  test('has the seed in base32, and names the installation and the account', () => {
    assert.equal(toBase32(SEED), 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
    assert.deepEqual(
      ['f', 'fo', 'foo', 'foob', 'fooba', 'foobar'].map((text) => toBase32(Buffer.from(text))),
      ['MY', 'MZXQ', 'MZXW6', 'MZXW6YQ', 'MZXW6YTB', 'MZXW6YTBOI'],
    );
    const uri = otpauthUri(SEED, { email: 'ann+x@example.com', host: 'millrace.example.com' });
    assert.equal(
      uri,
      'otpauth://totp/millrace.example.com%3Aann%2Bx%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=millrace.example.com',
    );
  });
});
