import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, suite, test } from 'node:test';
import { type MailBed, openMailBed } from '../../../testing/mail-bed.ts';
import { openKeyRing } from '../../secrets/seal.ts';
import { claimMails } from '../../store/mails.ts';
import { rotateRing } from '../keys/rotate-ring.ts';
import { openSending } from './send-mails.ts';

const life = new AbortController();
let bed: MailBed;
before(async () => {
  bed = await openMailBed();
});
after(() => bed[Symbol.asyncDispose]());

suite('a mail', () => {
  const queue = async (email: string) => {
    const { owner } = await bed.addPerson();
    await bed.sql('DELETE FROM mails');
    const invited = await bed.control.ask('POST', '/api/v1/invitations', {
      token: owner,
      body: { email, role: 'viewer' },
    });
    assert.equal(invited.status, 201, invited.text);
  };
  const stateOf = async () =>
    (
      await bed.sql<{ state: string; attempts: number; why: string | null; has: boolean }>(
        `SELECT state, attempts, last_error AS why, content_sealed IS NOT NULL AS has FROM mails ORDER BY id DESC LIMIT 1`,
      )
    )[0];

  test('is tried again when the mail server says "not now"', async () => {
    bed.server.refuseWith(451);
    await queue('later@example.com');
    await bed.sending.sendDue();
    assert.deepEqual(await stateOf(), { state: 'waiting', attempts: 1, why: 'EENVELOPE 451', has: true });
    await bed.sending.sendDue();
    assert.equal((await stateOf())?.attempts, 1, 'not before its time');
    bed.server.refuseWith(undefined);
    await bed.sql(`UPDATE mails SET next_at = now() WHERE state = 'waiting'`);
    await bed.mailTo('later@example.com');
    assert.equal((await stateOf())?.state, 'sent');
  });

  test('is dead when the mail server refuses it for good, and the metrics say so', async () => {
    bed.server.refuseWith(550);
    await queue('nobody@example.com');
    await bed.sending.sendDue();
    bed.server.refuseWith(undefined);
    assert.deepEqual(await stateOf(), { state: 'dead', attempts: 1, why: 'EENVELOPE 550', has: false });
    await bed.sending.count();
    const text = await bed.metrics.text();
    assert.match(text, /^millrace_mails_dead 1$/m);
    assert.match(text, /^millrace_mails_total\{outcome="dead"\} 1$/m);
  });

  test('is dead after its last attempt, and when its link has ended', async () => {
    bed.server.refuseWith(451);
    await queue('often@example.com');
    await bed.sql(`UPDATE mails SET attempts = 9 WHERE state = 'waiting'`);
    await bed.sending.sendDue();
    assert.equal((await stateOf())?.state, 'dead');
    bed.server.refuseWith(undefined);
    await queue('late@example.com');
    await bed.sql(`UPDATE mails SET expires_at = now() WHERE state = 'waiting'`);
    await bed.sending.sendDue();
    assert.deepEqual(await stateOf(), { state: 'dead', attempts: 1, why: 'link_ended', has: false });
    assert.ok(!bed.server.mails.some(({ to }) => to.includes('late@example.com')));
  });

  test('of a process that died is sent by another one, with the same Message-ID', async () => {
    await queue('twice@example.com');
    const [claimed] = await bed.control.store.asSystem((tx) => claimMails(tx, { limit: 1, leaseMs: 60_000 }));
    await bed.sending.sendDue();
    assert.equal((await stateOf())?.state, 'waiting', 'the lease holds');
    await bed.sql(`UPDATE mails SET next_at = now() WHERE state = 'waiting'`);
    const mail = await bed.mailTo('twice@example.com');
    assert.ok(mail.raw.includes(`<${claimed?.id}@example.com>`), mail.raw);
  });

  test('is sealed anew when the key ring rotates', async () => {
    await queue('rotated@example.com');
    const { log, now } = bed.control.needs;
    const rotated = openKeyRing(
      new Map([
        [1, Buffer.alloc(32, 7)],
        [2, randomBytes(32)],
      ]),
    );
    assert.ok(await rotateRing({ store: bed.control.store, keyRing: rotated, log, now }));
    const [row] = await bed.sql<{ content_sealed: Buffer }>(`SELECT content_sealed FROM mails WHERE state = 'waiting'`);
    assert.equal(rotated.keyIdOf(row?.content_sealed ?? Buffer.alloc(0)), 2);
    await openSending({ ...bed.control.needs, keyRing: rotated, mailer: bed.mailer }, life.signal).sendDue();
    assert.ok(bed.server.take('rotated@example.com') !== undefined);
  });

  test('of one workspace stops after 200 a day', async () => {
    const { owner, workspaceId } = await bed.addPerson();
    await bed.sql(
      `INSERT INTO mails (workspace_id, id, kind, state, expires_at)
       SELECT $1, 'mail_' || n, 'invitation', 'sent', now() FROM generate_series(1, 200) AS n`,
      [workspaceId],
    );
    const body = { email: 'many@example.com', role: 'viewer' };
    const refused = await bed.control.ask('POST', '/api/v1/invitations', { token: owner, body });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /200 mails in a day/);
  });
});
