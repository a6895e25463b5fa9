/** Sign-in with an authenticator app or a recovery code: replays, races, guesses, stale and mixed-up tickets. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import {
  addApp,
  type FactorBed,
  must,
  openConfirmed,
  openFactorBed,
  PASSWORD,
  type Person,
  refusal,
  statuses,
  type TestBrowser,
} from '../../../testing/factor-bed.ts';
import { until } from '../../../testing/until.ts';
import { makeAccountLink } from '../mail/account-link.ts';
import { WRONG_CODES } from './prove-factor.ts';

let bed: FactorBed;
before(async () => {
  bed = await openFactorBed();
});
after(() => bed[Symbol.asyncDispose]());

const SECOND = '/session/second-factor';
const TICKET = '__Host-millrace-sign-in';
const SESSION = '__Host-millrace';

async function addWithApp() {
  const person = await bed.addPerson();
  const browser = await openConfirmed(bed, person);
  return { person, browser, app: await addApp(bed, browser) };
}

async function atSecondStep({ email }: Person, browser: TestBrowser = bed.openBrowser()): Promise<TestBrowser> {
  const asked = must(await browser.givePassword(email), 202);
  assert.ok(!browser.cookies.has(SESSION), 'a password alone starts no session');
  assert.ok(Array.isArray(asked.body['ways']));
  return browser;
}

/** Surely wrong at this moment: it differs from the three codes that count. */
function wrongCode(right: string): string {
  return String((Number(right) + 500_000) % 1_000_000).padStart(6, '0');
}

suite('a sign-in with an authenticator app', () => {
  test('asks for a code after the password, starts a session with it, and knows the browser then', async () => {
    const { person, app } = await addWithApp();
    const browser = bed.openBrowser();
    const asked = must(await browser.givePassword(person.email), 202).body;
    assert.deepEqual([asked['ways'], asked['passkeyOptions']], [['code', 'recoveryCode'], null]);
    assert.equal((await browser.ask('GET', '/me')).status, 401);
    const given = must(await browser.ask('POST', SECOND, { code: app.code() }), 200);
    assert.deepEqual(given.body, { recoveryCodesLeft: 10 });
    assert.equal((await browser.ask('GET', '/me')).status, 200);
    assert.ok(browser.cookies.has('__Host-millrace-device') && !browser.cookies.has(TICKET));
    assert.equal((await bed.entries(person, 'session.started')).length, 2);
  });

  test('takes the code before and after the current one, and none twice', async () => {
    const { person, app } = await addWithApp();
    bed.nextStep();
    const early = app.code();
    bed.nextStep();
    must(await (await atSecondStep(person)).ask('POST', SECOND, { code: early }), 200);
    const again = await (await atSecondStep(person)).ask('POST', SECOND, { code: early });
    assert.equal(refusal(again), '401 wrong_code');
    const current = app.code();
    must(await (await atSecondStep(person)).ask('POST', SECOND, { code: current }), 200);
    const older = await (await atSecondStep(person)).ask('POST', SECOND, { code: early });
    assert.equal(refusal(older), '401 wrong_code', 'a code from before the last one that was used');
  });

  test('lets one of two concurrent requests with the same code in, in two processes', async () => {
    const { person, app } = await addWithApp();
    await using second = await bed.serveAgain();
    for (let round = 0; round < 5; round += 1) {
      const browsers = [await atSecondStep(person), await atSecondStep(person, bed.openBrowser(undefined, second.url))];
      const code = app.code();
      const answers = await Promise.all(browsers.map((browser) => browser.ask('POST', SECOND, { code })));
      assert.deepEqual(statuses(answers), [200, 401]);
      bed.nextStep();
    }
  });

  test('uses a ticket once, also in two concurrent requests', async () => {
    const { person, app } = await addWithApp();
    const browser = await atSecondStep(person);
    const ticket = browser.cookies.get(TICKET) ?? '';
    const [recoveryCode = ''] = app.recoveryCodes;
    const twin = bed.openBrowser();
    twin.cookies.set(TICKET, ticket);
    const answers = await Promise.all([
      browser.ask('POST', SECOND, { code: app.code() }),
      twin.ask('POST', SECOND, { recoveryCode }),
    ]);
    assert.deepEqual(statuses(answers), [200, 401]);
    bed.nextStep();
    const late = bed.openBrowser();
    late.cookies.set(TICKET, ticket);
    assert.equal(refusal(await late.ask('POST', SECOND, { code: app.code() })), '401 sign_in_again');
  });

  test('refuses a ticket that is old, forged, missing, or from another kind of browser', async () => {
    const { person, app } = await addWithApp();
    const code = () => ({ code: app.code() });
    assert.equal(refusal(await bed.openBrowser().ask('POST', SECOND, code())), '401 sign_in_again');
    const forged = bed.openBrowser();
    forged.cookies.set(TICKET, 'AQABxxxx');
    assert.equal(refusal(await forged.ask('POST', SECOND, code())), '401 sign_in_again');

    const curl = bed.openBrowser('curl/8.5.0');
    curl.cookies.set(TICKET, (await atSecondStep(person)).cookies.get(TICKET) ?? '');
    assert.equal(refusal(await curl.ask('POST', SECOND, code())), '401 sign_in_again');

    const stale = await atSecondStep(person);
    await bed.sql(`UPDATE sign_in_tickets SET expires_at = now() WHERE user_id = $1`, [person.userId]);
    assert.equal(refusal(await stale.ask('POST', SECOND, code())), '401 sign_in_again');
    const older = await atSecondStep(person);
    for (let step = 0; step < 11; step += 1) bed.nextStep();
    assert.equal(refusal(await older.ask('POST', SECOND, code())), '401 sign_in_again', 'five minutes later');
  });

  test('ends when the password is changed in between', async () => {
    const { person, browser, app } = await addWithApp();
    const waiting = await atSecondStep(person);
    const change = { currentPassword: PASSWORD, newPassword: `${PASSWORD} anew` };
    must(await browser.ask('POST', '/me/password', change), 204);
    assert.equal(refusal(await waiting.ask('POST', SECOND, { code: app.code() })), '401 sign_in_again');
  });

  test('checks the code of the account whose password was given, and of no other', async () => {
    const one = await addWithApp();
    const other = await addWithApp();
    const browser = await atSecondStep(one.person);
    assert.equal(refusal(await browser.ask('POST', SECOND, { code: other.app.code() })), '401 wrong_code');
    const [recoveryCode = ''] = other.app.recoveryCodes;
    assert.equal(refusal(await browser.ask('POST', SECOND, { recoveryCode })), '401 wrong_code');
    const { body } = must(await browser.ask('POST', SECOND, { code: one.app.code() }), 200);
    assert.deepEqual(body, { recoveryCodesLeft: 10 });
    const me = (await browser.ask('GET', '/me')).body['user'] as { id: string };
    assert.equal(me.id, one.person.userId);
  });

  test('is asked for after a new password by a link, too', async () => {
    const { person, app } = await addWithApp();
    const asked = { kind: 'password', userId: person.userId, createdBy: 'visitor' } as const;
    const link = await bed.control.store.asSystem((tx) => makeAccountLink(tx, asked, new Date()));
    const browser = bed.openBrowser();
    const password = `${PASSWORD} by link`;
    must(await browser.ask('POST', '/password-resets/use', { token: link.secret, password }), 204);
    must(await browser.givePassword(person.email, password), 202);
    must(await browser.ask('POST', SECOND, { code: app.code() }), 200);
  });
});

suite('guesses of codes', () => {
  test('end a ticket after five, and are in the audit log', async () => {
    const { person, app } = await addWithApp();
    const browser = await atSecondStep(person);
    for (let nth = 0; nth < 5; nth += 1) {
      assert.equal(refusal(await browser.ask('POST', SECOND, { code: wrongCode(app.code()) })), '401 wrong_code');
    }
    assert.equal(refusal(await browser.ask('POST', SECOND, { code: app.code() })), '401 sign_in_again');
    await until(async () => (await bed.entries(person, 'session.refused')).length > 0, 10_000);
    const [entry] = await bed.entries(person, 'session.refused');
    assert.ok(Number(entry?.details['wrong_code']) >= 1, JSON.stringify(entry));
  });

  test('end for a day after twenty, over two processes and concurrently; the owner gets a mail and other ways still work', async () => {
    const { person, app } = await addWithApp();
    await using second = await bed.serveAgain();
    const wrong = wrongCode(app.code());
    const tickets: TestBrowser[] = [];
    for (let nth = 0; nth < 6; nth += 1) {
      const url = nth % 2 === 0 ? second.url : bed.control.url;
      tickets.push(await atSecondStep(person, bed.openBrowser(undefined, url)));
    }
    const tries = tickets.flatMap((browser) => Array.from({ length: 5 }, () => browser));
    const answers = await Promise.all(tries.map((browser) => browser.ask('POST', SECOND, { code: wrong })));
    const counts = Map.groupBy(answers, refusal);
    assert.equal(counts.get('401 wrong_code')?.length, WRONG_CODES);
    assert.equal(counts.get('429 too_many_codes')?.length, tries.length - WRONG_CODES);

    const browser = await atSecondStep(person);
    assert.equal(refusal(await browser.ask('POST', SECOND, { code: app.code() })), '429 too_many_codes');
    assert.match((await bed.subjects(person.email)).join('\n'), /Too many wrong codes/);
    const [recoveryCode = ''] = app.recoveryCodes;
    must(await browser.ask('POST', SECOND, { recoveryCode }), 200);

    await bed.sql(`UPDATE code_failures SET since = now() - interval '25 hours' WHERE user_id = $1`, [person.userId]);
    must(await (await atSecondStep(person)).ask('POST', SECOND, { code: app.code() }), 200);
  });

  test('are not forgotten by a right code of the owner', async () => {
    const { person, app } = await addWithApp();
    const browser = await atSecondStep(person);
    for (let nth = 0; nth < 3; nth += 1) await browser.ask('POST', SECOND, { code: wrongCode(app.code()) });
    must(await browser.ask('POST', SECOND, { code: app.code() }), 200);
    const [row] = await bed.sql<{ failures: number }>('SELECT failures FROM code_failures WHERE user_id = $1', [
      person.userId,
    ]);
    assert.equal(row?.failures, 3);
  });
});

suite('a recovery code', () => {
  test('signs in once, is told by mail, and leaves nine', async () => {
    const { person, app } = await addWithApp();
    assert.equal(new Set(app.recoveryCodes).size, 10);
    const [recoveryCode = ''] = app.recoveryCodes;
    const typed = recoveryCode.toUpperCase().replaceAll('-', ' ');
    const { body } = must(await (await atSecondStep(person)).ask('POST', SECOND, { recoveryCode: typed }), 200);
    assert.deepEqual(body, { recoveryCodesLeft: 9 });
    assert.match((await bed.subjects(person.email)).join('\n'), /recovery code .* was used/);
    const [entry] = await bed.entries(person, 'recovery_code.used');
    assert.deepEqual(entry?.details, { left: 9 });
    const again = await (await atSecondStep(person)).ask('POST', SECOND, { recoveryCode });
    assert.equal(refusal(again), '401 wrong_code');
  });

  test('lets one of two concurrent requests in', async () => {
    const { person, app } = await addWithApp();
    for (const recoveryCode of app.recoveryCodes.slice(0, 5)) {
      const browsers = [await atSecondStep(person), await atSecondStep(person)];
      const answers = await Promise.all(browsers.map((browser) => browser.ask('POST', SECOND, { recoveryCode })));
      assert.deepEqual(statuses(answers), [200, 401]);
    }
  });

  test('is kept as a hash, and the seed of the app is sealed', async () => {
    const { person, app } = await addWithApp();
    const rows = await bed.sql(
      `SELECT t.*::text AS row FROM totp_seeds t WHERE user_id = $1
       UNION ALL SELECT r.*::text FROM recovery_codes r WHERE user_id = $1`,
      [person.userId],
    );
    const kept = JSON.stringify(rows);
    assert.equal(rows.length, 11);
    for (const code of app.recoveryCodes) {
      assert.ok(!kept.includes(Buffer.from(code).toString('hex')) && !kept.includes(code));
    }
    for (const form of ['hex', 'base64'] as const) {
      assert.ok(!kept.includes(app.seed.toString(form)));
      assert.ok(!kept.includes(Buffer.from(app.seed.toString('base64')).toString(form)));
    }
  });
});
