import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openKeyRing } from '../../secrets/seal.ts';
import { makePasskeyTicket, makePasswordTicket, openTicket, TICKET_MS } from './ticket.ts';

const ring = openKeyRing(new Map([[1, Buffer.alloc(32, 1)]]));
const now = new Date('2026-11-17T12:00:00Z');
const made = makePasswordTicket(ring, { userId: 'usr_1', browser: 'Firefox', now });
const as = { kind: 'password', browser: 'Firefox', now } as const;

suite('the ticket of a sign-in', () => {
  test('opens in the browser that began, for five minutes', () => {
    assert.deepEqual(openTicket(ring, made.cookie, as), made.ticket);
    assert.deepEqual(openTicket(ring, made.cookie, { ...as, now: new Date(now.getTime() + TICKET_MS) }), made.ticket);
    assert.equal(openTicket(ring, made.cookie, { ...as, now: new Date(now.getTime() + TICKET_MS + 1) }), undefined);
    assert.equal(openTicket(ring, made.cookie, { ...as, browser: 'curl' }), undefined);
  });

  test('opens neither as one of the other kind nor when it is forged', () => {
    const passkey = makePasskeyTicket(ring, { browser: 'Firefox', now });
    assert.equal(openTicket(ring, passkey.cookie, as), undefined);
    assert.equal(openTicket(ring, made.cookie, { ...as, kind: 'passkey' }), undefined);
    const forged = openKeyRing(new Map([[1, Buffer.alloc(32, 2)]]));
    const theirs = makePasswordTicket(forged, { userId: 'usr_1', browser: 'Firefox', now });
    for (const cookie of [undefined, '', 'x', theirs.cookie, `${made.cookie}AA`, 'A'.repeat(2_000)]) {
      assert.equal(openTicket(ring, cookie, as), undefined, cookie);
    }
  });

  test('has a challenge of its own each time', () => {
    const again = makePasswordTicket(ring, { userId: 'usr_1', browser: 'Firefox', now });
    assert.notEqual(again.ticket.challenge, made.ticket.challenge);
    assert.notEqual(again.ticket.id, made.ticket.id);
  });
});
