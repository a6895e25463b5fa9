/** Changing the factors of an account, a workspace that demands one, and the operator's way back. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import {
  addApp,
  addPasskey,
  CONSOLE,
  type FactorBed,
  must,
  openConfirmed,
  openFactorBed,
  PASSWORD,
  refusal,
} from '../../../../testing/factor-bed.ts';
import { removeFactors } from '../../factors/remove-factors.ts';
import { rotateRing } from '../../keys/rotate-ring.ts';
import { openKeyRing } from '../../../secrets/seal.ts';

let bed: FactorBed;
before(async () => {
  bed = await openFactorBed();
});
after(() => bed[Symbol.asyncDispose]());

const SECOND = '/session/second-factor';
const CHANGES: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['POST', '/me/totp'],
  ['POST', '/me/totp/confirm', { code: '000000' }],
  ['DELETE', '/me/totp'],
  ['POST', '/me/recovery-codes'],
  ['POST', '/me/passkeys/options'],
  ['DELETE', '/me/passkeys/pky_1'],
];

suite('a change of factors', () => {
  test('asks for the password first, and of an account with a factor for that, too', async () => {
    const person = await bed.addPerson();
    const browser = bed.openBrowser();
    must(await browser.givePassword(person.email), 204);
    for (const [method, path, body] of CHANGES) {
      assert.equal(refusal(await browser.ask(method, path, body)), '403 confirm_first', path);
    }
    const confirm = (body: object) => browser.ask('POST', '/me/confirm', body);
    assert.equal(refusal(await confirm({ password: 'wrong' })), '401 wrong_password');
    must(await confirm({ password: PASSWORD }), 204);
    const app = await addApp(bed, browser);

    await bed.sql('UPDATE sessions SET confirmed_until = now() WHERE user_id = $1', [person.userId]);
    assert.equal(refusal(await browser.ask('DELETE', '/me/totp')), '403 confirm_first', 'ten minutes later');
    assert.equal(refusal(await confirm({ password: PASSWORD })), '403 second_factor_needed');
    assert.equal(refusal(await confirm({ password: 'wrong', proof: { code: app.code() } })), '401 wrong_password');
    assert.equal(refusal(await confirm({ password: PASSWORD, proof: { code: 'abc' } })), '400 invalid_request');
    must(await confirm({ password: PASSWORD, proof: { code: app.code() } }), 204);
    const again = await confirm({ password: PASSWORD, proof: { code: app.code() } });
    assert.equal(refusal(again), '401 wrong_code', 'a code works once here as well');
    must(await browser.ask('DELETE', '/me/totp'), 204);
  });

  test('counts an app after its first right code, and keeps the one before until then', async () => {
    const person = await bed.addPerson();
    const browser = await openConfirmed(bed, person);
    must(await browser.ask('POST', '/me/totp'), 201);
    assert.equal(refusal(await browser.ask('POST', '/me/totp/confirm', { code: '000000' })), '401 wrong_code');
    assert.equal((await bed.openBrowser().givePassword(person.email)).status, 204, 'not confirmed yet');
    const first = await addApp(bed, browser);
    must(await browser.ask('POST', '/me/totp'), 201);
    const one = bed.openBrowser();
    must(await one.givePassword(person.email), 202);
    must(await one.ask('POST', SECOND, { code: first.code() }), 200);
    const second = await addApp(bed, browser);
    assert.deepEqual(second.recoveryCodes, [], 'the codes of before stay');
    const other = bed.openBrowser();
    must(await other.givePassword(person.email), 202);
    assert.equal(refusal(await other.ask('POST', SECOND, { code: first.code() })), '401 wrong_code');
    must(await other.ask('POST', SECOND, { code: second.code() }), 200);
  });

  test('is refused in another session than the one that began it, and after fifteen minutes', async () => {
    const person = await bed.addPerson();
    const browser = await openConfirmed(bed, person);
    const other = await openConfirmed(bed, person);
    must(await browser.ask('POST', '/me/totp'), 201);
    assert.equal(refusal(await other.ask('POST', '/me/totp/confirm', { code: '000000' })), '404 not_found');
    await bed.sql(`UPDATE totp_seeds SET created_at = now() - interval '16 minutes' WHERE user_id = $1`, [
      person.userId,
    ]);
    assert.equal(refusal(await browser.ask('POST', '/me/totp/confirm', { code: '000000' })), '404 not_found');
  });

  test('ends the other sessions, is in the audit log, and is told by mail', async () => {
    const person = await bed.addPerson();
    const other = bed.openBrowser();
    must(await other.givePassword(person.email), 204);
    const browser = await openConfirmed(bed, person);
    await addApp(bed, browser);
    assert.equal((await other.ask('GET', '/me')).status, 401);
    assert.equal((await browser.ask('GET', '/me')).status, 200);
    const { added } = await addPasskey(browser, 'Phone');
    const renamed = must(await browser.ask('PATCH', `/me/passkeys/${added.passkey.id}`, { name: 'Old phone' }), 200);
    assert.equal(renamed.body['name'], 'Old phone');
    must(await browser.ask('DELETE', `/me/passkeys/${added.passkey.id}`), 204);
    assert.deepEqual(
      (await bed.entries(person, 'second_factor.added')).map(({ details }) => details['kind']),
      ['passkey', 'app'],
    );
    assert.equal((await bed.entries(person, 'passkey.renamed')).length, 1);
    assert.equal((await bed.entries(person, 'second_factor.removed')).length, 1);
    assert.deepEqual(
      (await bed.subjects(person.email)).map((subject) => /new way|was removed/.exec(subject)?.[0]),
      ['new way', 'new way', 'was removed'],
    );
  });

  test('does not touch passkeys of others', async () => {
    const one = await openConfirmed(bed, await bed.addPerson());
    const other = await openConfirmed(bed, await bed.addPerson());
    const { added } = await addPasskey(one);
    const path = `/me/passkeys/${added.passkey.id}`;
    assert.equal(refusal(await other.ask('PATCH', path, { name: 'Mine' })), '404 not_found');
    assert.equal(refusal(await other.ask('DELETE', path)), '404 not_found');
  });

  test('that begins while a password sign-in is under way leaves no session without the factor', async () => {
    const person = await bed.addPerson();
    const browser = await openConfirmed(bed, person);
    const others = Array.from({ length: 8 }, () => bed.openBrowser());
    const signIns = others.map((other) => other.givePassword(person.email));
    const app = await addApp(bed, browser);
    const answers = await Promise.all(signIns);
    for (const [at, other] of others.entries()) {
      assert.ok([202, 204].includes(answers[at]?.status ?? 0), answers[at]?.text);
      assert.equal((await other.ask('GET', '/me')).status, 401);
    }
    assert.ok(app.recoveryCodes.length > 0);
  });
});

suite('recovery codes', () => {
  test('are made anew in place of the old ones, and go with the last factor', async () => {
    const person = await bed.addPerson();
    const browser = await openConfirmed(bed, person);
    assert.equal(refusal(await browser.ask('POST', '/me/recovery-codes')), '409 wrong_state');
    const app = await addApp(bed, browser);
    const { body } = must(await browser.ask('POST', '/me/recovery-codes'), 201);
    const anew = body['recoveryCodes'] as string[];
    assert.equal(anew.length, 10);
    const other = bed.openBrowser();
    must(await other.givePassword(person.email), 202);
    const [old = ''] = app.recoveryCodes;
    assert.equal(refusal(await other.ask('POST', SECOND, { recoveryCode: old })), '401 wrong_code');
    must(await other.ask('POST', SECOND, { recoveryCode: anew[0] ?? '' }), 200);
    must(await browser.ask('DELETE', '/me/totp'), 204);
    const factors = (await browser.ask('GET', '/me/factors')).body;
    assert.deepEqual([factors['totp'], factors['passkeys'], factors['recoveryCodesLeft']], [null, [], 0]);
    must(await bed.openBrowser().givePassword(person.email), 204);
  });
});

suite('a workspace that demands a second factor', () => {
  const DEMAND = '/workspace/second-factor';

  test('is closed to members without one, until they add it; tokens go on', async () => {
    const admin = await bed.addPerson('admin');
    const member = await bed.addPerson('viewer', admin.workspaceId);
    const chief = await openConfirmed(bed, admin);
    const browser = await openConfirmed(bed, member);
    assert.equal(refusal(await chief.ask('PATCH', DEMAND, { isNeeded: true })), '403 second_factor_needed');
    assert.equal(refusal(await browser.ask('PATCH', DEMAND, { isNeeded: true })), '403 not_allowed');
    await addApp(bed, chief);
    const demanded = must(await chief.ask('PATCH', DEMAND, { isNeeded: true }), 200);
    assert.equal(demanded.body['needsSecondFactor'], true);

    const refused = await browser.ask('GET', '/sources');
    assert.equal(refusal(refused), '403 second_factor_needed');
    assert.match(refused.text, /add one under your profile/);
    for (const path of ['/me', '/me/factors', '/sessions']) must(await browser.ask('GET', path), 200);
    const me = (await browser.ask('GET', '/me')).body as { workspaces: { needsSecondFactor: boolean }[] };
    assert.equal(me.workspaces[0]?.needsSecondFactor, true);
    must(await bed.control.ask('GET', '/api/v1/sources', { token: member.owner }), 200);
    must(await chief.ask('GET', '/sources'), 200);

    await addApp(bed, browser);
    must(await browser.ask('GET', '/sources'), 200);
    const members = (await chief.ask('GET', '/members')).body['items'] as { hasSecondFactor: boolean }[];
    assert.deepEqual(
      members.map(({ hasSecondFactor }) => hasSecondFactor),
      [true, true],
    );
    must(await chief.ask('PATCH', DEMAND, { isNeeded: false }), 200);
    const { body } = await bed.control.ask('GET', '/api/v1/audit-log', { token: admin.owner });
    const entries = body['items'] as { action: string; details: object }[];
    assert.deepEqual(
      entries.filter(({ action }) => action === 'workspace.second_factor_changed').map(({ details }) => details),
      [{ isNeeded: false }, { isNeeded: true }],
    );
  });

  test('does not close the other workspaces of a member', async () => {
    const admin = await bed.addPerson('admin');
    const chief = await openConfirmed(bed, admin);
    await addApp(bed, chief);
    must(await chief.ask('PATCH', DEMAND, { isNeeded: true }), 200);
    const member = await bed.addPerson('viewer');
    await bed.sql(`INSERT INTO members (workspace_id, user_id, role) VALUES ($1, $2, 'viewer')`, [
      admin.workspaceId,
      member.userId,
    ]);
    const browser = bed.openBrowser();
    must(await browser.givePassword(member.email), 204);
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const ask = async (workspaceId: string) => {
      const headers = {
        Cookie: cookie,
        'Millrace-Workspace': workspaceId,
        'User-Agent': 'Mozilla/5.0 Firefox/145.0',
      };
      return (await bed.control.ask('GET', '/api/v1/sources', { headers })).status;
    };
    assert.deepEqual([await ask(member.workspaceId), await ask(admin.workspaceId)], [200, 403]);
  });
});

suite('an invitation', () => {
  test('starts no session of an account with a factor by the password alone', async () => {
    const person = await bed.addPerson();
    const browser = await openConfirmed(bed, person);
    await addApp(bed, browser);
    const host = await bed.addPerson();
    const invited = await bed.control.ask('POST', '/api/v1/invitations', {
      token: host.owner,
      body: { email: person.email, role: 'viewer' },
    });
    must(invited, 201);
    // Where the installation sends mail, only the mail has the link.
    const secret = 'mli_test';
    const hash = `decode('${Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(secret))).toString('hex')}', 'hex')`;
    await bed.sql(`UPDATE invitations SET secret_hash = ${hash} WHERE workspace_id = $1`, [host.workspaceId]);
    const stranger = bed.openBrowser();
    const accept = { token: secret, name: 'Ann', password: PASSWORD };
    const answer = await stranger.ask('POST', '/invitations/accept', accept);
    assert.equal(refusal(answer), '403 second_factor_needed');
    assert.equal(stranger.cookies.size, 0);
    must(await browser.ask('POST', '/me/workspaces', { token: secret }), 201);
  });
});

suite('the operator', () => {
  test('removes every factor of an account, ends its sessions, and the log and a mail say so', async () => {
    const person = await bed.addPerson();
    const browser = await openConfirmed(bed, person);
    await addApp(bed, browser);
    await addPasskey(browser);
    const keys = new Map([[1, Buffer.alloc(32, 7)]]);
    const settings = { databaseUrl: bed.control.postgres.serviceUrl, keys, consoleUrl: CONSOLE, smtp: {} };
    assert.equal(await removeFactors(settings, 'unknown@example.com', new Date()), undefined);
    const removed = await removeFactors(settings, person.email.toUpperCase(), new Date());
    assert.deepEqual(removed, { totp: true, passkeys: 1, recoveryCodes: 10, isTold: true });
    assert.equal((await browser.ask('GET', '/me')).status, 401);
    must(await bed.openBrowser().givePassword(person.email), 204);
    const [entry] = await bed.entries(person, 'second_factors.removed');
    assert.deepEqual([entry?.actor['kind'], entry?.details['passkeys']], ['operator', 1]);
    assert.match((await bed.subjects(person.email)).at(-1) ?? '', /second factors .* were removed/);
    const untold = await removeFactors({ ...settings, keys: new Map() }, person.email, new Date());
    assert.deepEqual(untold, { totp: false, passkeys: 0, recoveryCodes: 0, isTold: false });
  });

  test('rotates the key ring, and the codes of the app still sign in', async () => {
    const person = await bed.addPerson();
    const browser = await openConfirmed(bed, person);
    const app = await addApp(bed, browser);
    const { store, log, now } = bed.control.needs;
    const keys = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)] as const;
    const rotated = openKeyRing(
      new Map([
        [1, keys[0]],
        [2, keys[1]],
      ]),
    );
    assert.equal(await rotateRing({ store, keyRing: rotated, log, now }), true);
    const [row] = await bed.sql<{ head: string }>(
      `SELECT encode(substring(seed_sealed FROM 1 FOR 3), 'hex') AS head FROM totp_seeds WHERE user_id = $1`,
      [person.userId],
    );
    assert.equal(row?.head, '010002');
    // Back to the ring of this server, which the code then opens.
    assert.equal(
      await rotateRing({
        store,
        keyRing: openKeyRing(
          new Map([
            [2, keys[1]],
            [1, keys[0]],
          ]),
        ),
        log,
        now,
      }),
      true,
    );
    const other = bed.openBrowser();
    must(await other.givePassword(person.email), 202);
    must(await other.ask('POST', SECOND, { code: app.code() }), 200);
  });
});
