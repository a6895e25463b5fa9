import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type MailBed, openMailBed, PASSWORD, tokenIn } from '../../../testing/mail-bed.ts';

const NEW_PASSWORD = 'a new long password';

let bed: MailBed;
before(async () => {
  bed = await openMailBed();
});
after(() => bed[Symbol.asyncDispose]());

const askReset = (email: string) => bed.ask('POST', '/password-resets', { email });
const useReset = (token: string, password = NEW_PASSWORD) =>
  bed.ask('POST', '/password-resets/use', { token, password });
const isSignedIn = async (headers: Record<string, string>) =>
  (await bed.control.ask('GET', '/api/v1/me', { headers })).status === 200;

async function actionsOf(workspaceId: string): Promise<string[]> {
  const sql = 'SELECT action FROM audit_log WHERE workspace_id = $1 ORDER BY sequence';
  return (await bed.sql<{ action: string }>(sql, [workspaceId])).map(({ action }) => action);
}

suite('an invitation by mail', () => {
  test('shows its link to the invited address and to nobody else', async () => {
    const { owner } = await bed.addPerson();
    const body = { email: 'dee@example.com', role: 'developer' };
    const invited = await bed.control.ask('POST', '/api/v1/invitations', { token: owner, body });
    assert.equal(invited.status, 201, invited.text);
    assert.deepEqual(
      [invited.body['sentByMail'], invited.body['token'], invited.body['link']],
      [true, undefined, undefined],
    );
    const waiting = bed.control.postgres.dump();
    const mail = await bed.mailTo('dee@example.com');
    assert.match(mail.subject, /“Shop”/);
    const token = tokenIn(mail, 'join');
    for (const text of [token, Buffer.from(token).toString('hex')])
      assert.ok(!waiting.includes(text), 'sealed at rest');
    const accepted = await bed.ask('POST', '/invitations/accept', { token, name: 'Dee', password: PASSWORD });
    assert.equal(accepted.status, 201, accepted.text);
    const [row] = await bed.sql(`SELECT state, content_sealed FROM mails WHERE kind = 'invitation'`);
    assert.deepEqual(row, { state: 'sent', content_sealed: null }, 'nothing is kept of it');
  });
});

suite('a new password by mail', () => {
  test('works by a link, once, and ends every session', async () => {
    const { email, workspaceId } = await bed.addPerson();
    const before = await bed.signIn(email, PASSWORD);
    const asked = await askReset(email.toUpperCase());
    assert.deepEqual([asked.status, asked.body], [202, { sendsMail: true }]);
    const token = tokenIn(await bed.mailTo(email), 'reset');
    const hashes = await bed.sql('SELECT secret_hash::text AS hash FROM account_links');
    assert.ok(!JSON.stringify(hashes).includes(token), 'kept as a hash');
    assert.equal((await useReset(token, 'short')).status, 400, 'which uses nothing up');
    assert.equal((await useReset(token)).status, 204);
    assert.equal((await useReset(token)).status, 404, 'used up');
    assert.equal(await isSignedIn(before.headers), false);
    assert.equal((await bed.signIn(email)).status, 401);
    assert.equal((await bed.signIn(email, NEW_PASSWORD)).status, 204);
    assert.match((await bed.mailTo(email)).subject, /password was changed/);
    const actions = await actionsOf(workspaceId);
    assert.deepEqual(actions.slice(0, 3), ['session.started', 'password.link_mailed', 'password.reset']);
  });

  test('is not mailed to an address without an account, and its answer is the same', async () => {
    const { email } = await bed.addPerson();
    const strange = await askReset('stranger@example.com');
    const known = await askReset(email);
    assert.deepEqual([strange.status, strange.text], [known.status, known.text]);
    await bed.mailTo(email);
    assert.ok(!bed.server.mails.some(({ to }) => to.includes('stranger@example.com')));
  });

  test('ends after an hour, and with every other new password', async () => {
    const { email, userId } = await bed.addPerson();
    await askReset(email);
    const first = tokenIn(await bed.mailTo(email), 'reset');
    await askReset(email);
    const second = tokenIn(await bed.mailTo(email), 'reset');
    await bed.sql(`UPDATE account_links SET expires_at = expires_at - interval '60 minutes' WHERE user_id = $1`, [
      userId,
    ]);
    assert.equal((await useReset(first)).status, 404, 'expired');
    await bed.sql(`UPDATE account_links SET expires_at = expires_at + interval '60 minutes' WHERE user_id = $1`, [
      userId,
    ]);
    assert.equal((await useReset(first)).status, 204);
    assert.equal((await useReset(second)).status, 404, 'the other one ended');
  });

  test('of two uses at the same moment, one sets the password', async () => {
    const { email } = await bed.addPerson();
    await askReset(email);
    const token = tokenIn(await bed.mailTo(email), 'reset');
    const answers = await Promise.all(
      ['first long password', 'other long password'].map((each) => useReset(token, each)),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([204, 404]));
  });

  test('comes at most three times an hour, however often it is asked for', async () => {
    const [one, next] = [await bed.addPerson(), await bed.addPerson()];
    for (let at = 0; at < 8; at += 1) assert.equal((await askReset(one.email)).status, 202);
    await askReset(next.email);
    // Requests are worked off in their order.
    await bed.mailTo(next.email);
    const links = await bed.sql('SELECT 1 AS one FROM account_links WHERE user_id = $1', [one.userId]);
    assert.equal(links.length, 3);
  });
});

suite('a new address', () => {
  const confirm = (token: string, headers: Record<string, string>) =>
    bed.ask('POST', '/me/email/confirm', { token }, headers);
  const askChange = (headers: Record<string, string>, email: string, password = PASSWORD) =>
    bed.ask('POST', '/me/email', { email, password }, headers);

  test('has to be confirmed from a mail, by the account itself', async () => {
    const { email, workspaceId } = await bed.addPerson();
    const stranger = await bed.addPerson();
    const { headers } = await bed.signIn(email, PASSWORD);
    const elsewhere = await bed.signIn(email, PASSWORD);
    assert.equal((await askChange(headers, 'new@example.com', 'a wrong password')).status, 401);
    const asked = await askChange(headers, 'new@example.com');
    assert.deepEqual([asked.status, asked.body], [202, { sendsMail: true }]);
    const token = tokenIn(await bed.mailTo('new@example.com'), 'confirm-email');
    assert.match((await bed.mailTo(email)).subject, /new address was asked for/);
    const other = await bed.signIn(stranger.email, PASSWORD);
    assert.equal((await confirm(token, other.headers)).status, 404, 'of no use to another account');
    const confirmed = await confirm(token, headers);
    assert.equal(confirmed.status, 200, confirmed.text);
    assert.equal((confirmed.body['user'] as { email: string }).email, 'new@example.com');
    assert.equal((await confirm(token, headers)).status, 404, 'used up');
    assert.equal(await isSignedIn(elsewhere.headers), false, 'other sessions end');
    assert.match((await bed.mailTo(email)).subject, /address of your Millrace account was changed/);
    assert.deepEqual(
      [(await bed.signIn(email)).status, (await bed.signIn('new@example.com', PASSWORD)).status],
      [401, 204],
    );
    assert.ok((await actionsOf(workspaceId)).includes('email.changed'));
  });

  test('that has an account gets no mail, and the answer is the same', async () => {
    const [one, other] = [await bed.addPerson(), await bed.addPerson()];
    const { headers } = await bed.signIn(one.email, PASSWORD);
    const taken = await askChange(headers, other.email);
    const free = await askChange(headers, 'free@example.com');
    assert.deepEqual([taken.status, taken.text], [free.status, free.text]);
    await bed.mailTo('free@example.com');
    assert.ok(!bed.server.mails.some(({ to, subject }) => to.includes(other.email) && subject.startsWith('Confirm')));
  });
});

suite('a link that an admin makes', () => {
  test('goes to the member by mail, and the admin does not see it', async () => {
    const { email, owner, userId } = await bed.addPerson();
    const made = await bed.control.ask('POST', `/api/v1/members/${userId}/password-link`, { token: owner });
    assert.equal(made.status, 201, made.text);
    assert.deepEqual([made.body['sentByMail'], made.body['token']], [true, undefined]);
    assert.equal((await useReset(tokenIn(await bed.mailTo(email), 'reset'))).status, 204);
  });
});
