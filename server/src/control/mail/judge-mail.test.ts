import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { judgeMail, MAX_MAIL_ATTEMPTS } from './judge-mail.ts';
import { toFailure } from './open-mailer.ts';

const DAY_MS = 86_400_000;
const passing = { ok: false, isPermanent: false, why: 'ECONNECTION' } as const;

suite('a mail that could not be sent', () => {
  test('is tried again after longer and longer pauses, and is dead after ten attempts', () => {
    const pauses: number[] = [];
    for (let attempts = 1; attempts < MAX_MAIL_ATTEMPTS; attempts += 1) {
      const fate = judgeMail({ attempts, leftMs: DAY_MS, failure: passing });
      assert.ok(fate.kind === 'retry');
      pauses.push(fate.afterMs / 1_000);
    }
    assert.deepEqual(pauses, [10, 60, 300, 900, 3_600, 3_600, 3_600, 3_600, 3_600]);
    const last = judgeMail({ attempts: MAX_MAIL_ATTEMPTS, leftMs: DAY_MS, failure: passing });
    assert.deepEqual(last, { kind: 'dead', why: 'ECONNECTION' });
  });

  test('is dead when its link would have ended before the next attempt', () => {
    assert.equal(judgeMail({ attempts: 4, leftMs: 899_000, failure: passing }).kind, 'dead');
    assert.equal(judgeMail({ attempts: 4, leftMs: 901_000, failure: passing }).kind, 'retry');
  });

  test('is dead at once when the server refuses its recipient or its content for good', () => {
    const failureOf = (properties: object) => toFailure(Object.assign(new Error('550 ann@example.com'), properties));
    const gone = failureOf({ code: 'EENVELOPE', responseCode: 550, command: 'RCPT TO' });
    assert.deepEqual(gone, { ok: false, isPermanent: true, why: 'EENVELOPE 550' });
    assert.equal(judgeMail({ attempts: 1, leftMs: DAY_MS, failure: gone }).kind, 'dead');
    assert.equal(failureOf({ code: 'EENVELOPE', responseCode: 451, command: 'RCPT TO' }).isPermanent, false);
    assert.equal(failureOf({ code: 'EAUTH', responseCode: 535, command: 'AUTH PLAIN' }).isPermanent, false);
    assert.equal(failureOf({ code: 'EENVELOPE', responseCode: 550, command: 'MAIL FROM' }).isPermanent, false);
  });

  test('never keeps words of the server, which may repeat the address', () => {
    assert.deepEqual(toFailure(new Error('550 ann@example.com is unknown')), {
      ok: false,
      isPermanent: false,
      why: 'failed',
    });
    assert.equal(toFailure(Object.assign(new Error('x'), { code: 'to: ann@example.com' })).why, 'failed');
  });
});
