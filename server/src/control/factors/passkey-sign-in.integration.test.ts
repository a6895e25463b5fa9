/** Passkeys: adding one, as a second factor, and as a sign-in without a password; with answers that are wrong on purpose. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { PasskeyOptions } from '@millrace/contract/control';
import {
  addApp,
  addPasskey,
  type FactorBed,
  must,
  openConfirmed,
  openFactorBed,
  PASSWORD,
  type Person,
  refusal,
  statuses,
  SITE,
  type TestBrowser,
} from '../../../testing/factor-bed.ts';
import { openSoftPasskey } from '../../../testing/soft-passkey.ts';
import { startTestControl } from '../../../testing/control.ts';

let bed: FactorBed;
before(async () => {
  bed = await openFactorBed();
});
after(() => bed[Symbol.asyncDispose]());

const SECOND = '/session/second-factor';
const TICKET = '__Host-millrace-sign-in';

async function addWithPasskey() {
  const person = await bed.addPerson();
  const browser = await openConfirmed(bed, person);
  return { person, browser, ...(await addPasskey(browser)) };
}

async function atSecondStep({ email }: Person): Promise<{ browser: TestBrowser; options: PasskeyOptions }> {
  const browser = bed.openBrowser();
  const { body } = must(await browser.givePassword(email), 202);
  return { browser, options: body['passkeyOptions'] as PasskeyOptions };
}

async function beginAlone(): Promise<{ browser: TestBrowser; options: PasskeyOptions }> {
  const browser = bed.openBrowser();
  const { body } = must(await browser.ask('POST', '/session/passkey/options'), 200);
  return { browser, options: body };
}

async function openChallenge(browser: TestBrowser): Promise<PasskeyOptions> {
  return must(await browser.ask('POST', '/me/passkeys/options'), 200).body;
}

suite('adding a passkey', () => {
  test('binds it to the console and the account, and shows recovery codes with the first factor', async () => {
    const person = await bed.addPerson();
    const browser = await openConfirmed(bed, person);
    const options = await openChallenge(browser);
    assert.deepEqual(options['rp'], { id: SITE.rpId, name: SITE.rpId });
    const selection = options['authenticatorSelection'] as Record<string, unknown>;
    assert.deepEqual([selection['residentKey'], selection['userVerification']], ['required', 'required']);
    const first = await addPasskey(browser, 'Laptop');
    assert.equal(first.added.recoveryCodes?.length, 10);
    const second = await addPasskey(browser, 'Phone');
    assert.equal(second.added.recoveryCodes, null);
    const { body } = await browser.ask('GET', '/me/factors');
    assert.deepEqual(
      (body['passkeys'] as { name: string }[]).map(({ name }) => name),
      ['Laptop', 'Phone'],
    );
    const excluded = (await openChallenge(browser))['excludeCredentials'] as { id: string }[];
    assert.deepEqual(excluded.map(({ id }) => id).toSorted(), [first.soft.id, second.soft.id].toSorted());
  });

  test('uses its challenge once, and refuses one of another session, another origin or an unverified person', async () => {
    const person = await bed.addPerson();
    const browser = await openConfirmed(bed, person);
    const add = async (passkey: object) => refusal(await browser.ask('POST', '/me/passkeys', { name: 'K', passkey }));
    const other = await openConfirmed(bed, await bed.addPerson());
    const theirs = await openChallenge(other);
    await openChallenge(browser);
    const soft = openSoftPasskey(SITE);
    assert.equal(await add(soft.create(theirs)), '401 passkey_refused');
    const options = await openChallenge(browser);
    assert.equal(await add(soft.create(options, { origin: 'https://evil.example' })), '401 passkey_refused');
    assert.equal(await add(soft.create(options)), '401 passkey_refused', 'the challenge was used up');
    const unverified = await openChallenge(browser);
    assert.equal(await add(soft.create(unverified, { isVerified: false })), '401 passkey_refused');
    await openChallenge(browser);
    await bed.sql('UPDATE passkey_challenges SET expires_at = now()');
    assert.equal(await add(soft.create(unverified)), '401 passkey_refused');
    const right = soft.create(await openChallenge(browser));
    must(await browser.ask('POST', '/me/passkeys', { name: 'K', passkey: right }), 201);
    // The same credential for another account.
    const stolen = soft.create(await openChallenge(other));
    assert.equal(refusal(await other.ask('POST', '/me/passkeys', { name: 'K', passkey: stolen })), '409 conflict');
  });

  test('says what is missing in an installation that does not name its console', async () => {
    await using control = await startTestControl();
    const answer = await control.ask('POST', '/api/v1/session/passkey/options');
    assert.equal(refusal(answer), '409 no_passkeys');
    assert.match(String(answer.body['detail']), /address of the console/);
  });
});

suite('a passkey as the second factor', () => {
  test('signs in after the password', async () => {
    const { person, soft } = await addWithPasskey();
    const { browser, options } = await atSecondStep(person);
    assert.deepEqual(
      (options['allowCredentials'] as { id: string }[]).map(({ id }) => id),
      [soft.id],
    );
    must(await browser.ask('POST', SECOND, { passkey: soft.sign(options) }), 200);
    assert.equal((await browser.ask('GET', '/me')).status, 200);
  });

  test('is refused with the challenge of another sign-in, and the challenge of this one works once', async () => {
    const { person, soft } = await addWithPasskey();
    const first = await atSecondStep(person);
    const second = await atSecondStep(person);
    const mixed = await first.browser.ask('POST', SECOND, { passkey: soft.sign(second.options) });
    assert.equal(refusal(mixed), '401 passkey_refused');
    const late = await first.browser.ask('POST', SECOND, { passkey: soft.sign(first.options) });
    assert.equal(refusal(late), '401 sign_in_again', 'a challenge that failed is used up');
    must(await second.browser.ask('POST', SECOND, { passkey: soft.sign(second.options) }), 200);
  });

  test('is refused when it belongs to another account, or the browser was at another address', async () => {
    const one = await addWithPasskey();
    const other = await addWithPasskey();
    const foreign = await atSecondStep(one.person);
    const answer = await foreign.browser.ask('POST', SECOND, { passkey: other.soft.sign(foreign.options) });
    assert.equal(refusal(answer), '401 passkey_refused');
    const phished = await atSecondStep(one.person);
    const signed = one.soft.sign(phished.options, { origin: 'https://millrace.example.net' });
    assert.equal(refusal(await phished.browser.ask('POST', SECOND, { passkey: signed })), '401 passkey_refused');
    const unverified = await atSecondStep(one.person);
    const weak = one.soft.sign(unverified.options, { isVerified: false });
    assert.equal(refusal(await unverified.browser.ask('POST', SECOND, { passkey: weak })), '401 passkey_refused');
  });

  test('is refused when its counter goes back or stays, and the audit log says why', async () => {
    const { person, soft } = await addWithPasskey();
    const use = async (counter: number) => {
      const { browser, options } = await atSecondStep(person);
      return (await browser.ask('POST', SECOND, { passkey: soft.sign(options, { counter }) })).status;
    };
    assert.deepEqual([await use(7), await use(6), await use(7), await use(0), await use(8)], [200, 401, 401, 401, 200]);
    const entries = await bed.entries(person, 'passkey.refused');
    assert.equal(entries.length, 3);
    assert.match(String(entries[0]?.details['why']), /counter/);
  });

  test('lets one of two concurrent uses with the same counter in', async () => {
    const { person, soft } = await addWithPasskey();
    for (let counter = 1; counter < 6; counter += 1) {
      const tries = [await atSecondStep(person), await atSecondStep(person)];
      const answers = await Promise.all(
        tries.map(({ browser, options }) => browser.ask('POST', SECOND, { passkey: soft.sign(options, { counter }) })),
      );
      assert.deepEqual(statuses(answers), [200, 401]);
    }
  });

  test('may count nothing at all, as synced passkeys do', async () => {
    const { person, soft } = await addWithPasskey();
    for (let nth = 0; nth < 2; nth += 1) {
      const { browser, options } = await atSecondStep(person);
      must(await browser.ask('POST', SECOND, { passkey: soft.sign(options, { counter: 0 }) }), 200);
    }
  });
});

suite('a sign-in with a passkey alone', () => {
  const ALONE = '/session/passkey';

  test('starts a session without a password, and names no account before', async () => {
    const { person, soft } = await addWithPasskey();
    const { browser, options } = await beginAlone();
    assert.equal(options['allowCredentials'], undefined);
    assert.equal(options['userVerification'], 'required');
    must(await browser.ask('POST', ALONE, { passkey: soft.sign(options) }), 200);
    const me = (await browser.ask('GET', '/me')).body['user'] as { id: string };
    assert.equal(me.id, person.userId);
  });

  test('uses its challenge once, also concurrently and when the first try failed', async () => {
    const { soft } = await addWithPasskey();
    const { browser, options } = await beginAlone();
    const twin = bed.openBrowser();
    twin.cookies.set(TICKET, browser.cookies.get(TICKET) ?? '');
    const answers = await Promise.all(
      [browser, twin].map((each) => each.ask('POST', ALONE, { passkey: soft.sign(options) })),
    );
    assert.deepEqual(statuses(answers), [200, 401]);

    const failing = await beginAlone();
    const wrong = soft.sign(failing.options, { challenge: 'AAAA' });
    assert.equal(refusal(await failing.browser.ask('POST', ALONE, { passkey: wrong })), '401 passkey_refused');
    const late = await failing.browser.ask('POST', ALONE, { passkey: soft.sign(failing.options) });
    assert.equal(refusal(late), '401 sign_in_again');
  });

  test('cannot be repeated after a change that ends sign-ins under way', async () => {
    const { soft, browser: own } = await addWithPasskey();
    const { browser, options } = await beginAlone();
    const ticket = browser.cookies.get(TICKET) ?? '';
    const signed = soft.sign(options, { counter: 0 });
    must(await browser.ask('POST', ALONE, { passkey: signed }), 200);
    must(await own.ask('POST', '/me/totp'), 201);
    const thief = bed.openBrowser();
    thief.cookies.set(TICKET, ticket);
    assert.equal(refusal(await thief.ask('POST', ALONE, { passkey: signed })), '401 sign_in_again');
  });

  test('is refused without its ticket, by an unknown passkey, for another owner, and unverified', async () => {
    const { soft } = await addWithPasskey();
    const bare = await beginAlone();
    bare.browser.cookies.delete(TICKET);
    const stray = await bare.browser.ask('POST', ALONE, { passkey: soft.sign(bare.options) });
    assert.equal(refusal(stray), '401 sign_in_again');

    const unknown = await beginAlone();
    const strange = openSoftPasskey(SITE).sign(unknown.options);
    assert.equal(refusal(await unknown.browser.ask('POST', ALONE, { passkey: strange })), '401 passkey_refused');

    const other = await beginAlone();
    const handle = Buffer.from('usr_other').toString('base64url');
    const claimed = soft.sign(other.options, { userHandle: handle });
    assert.equal(refusal(await other.browser.ask('POST', ALONE, { passkey: claimed })), '401 passkey_refused');

    const weak = await beginAlone();
    const unverified = soft.sign(weak.options, { isVerified: false });
    assert.equal(refusal(await weak.browser.ask('POST', ALONE, { passkey: unverified })), '401 passkey_refused');
  });

  test('cannot take the ticket of a password, nor the other way round', async () => {
    const { person, soft } = await addWithPasskey();
    const asked = await atSecondStep(person);
    const signed = soft.sign(asked.options);
    assert.equal(refusal(await asked.browser.ask('POST', ALONE, { passkey: signed })), '401 sign_in_again');
    const alone = await beginAlone();
    const answer = await alone.browser.ask('POST', SECOND, { passkey: soft.sign(alone.options) });
    assert.equal(refusal(answer), '401 sign_in_again');
  });

  test('ends with the passkey', async () => {
    const { browser, soft, added } = await addWithPasskey();
    const alone = await beginAlone();
    must(await browser.ask('DELETE', `/me/passkeys/${added.passkey.id}`), 204);
    const answer = await alone.browser.ask('POST', ALONE, { passkey: soft.sign(alone.options) });
    assert.equal(refusal(answer), '401 passkey_refused');
  });
});

suite('confirming with a passkey', () => {
  test('takes the challenge of this session, once', async () => {
    const { person, soft } = await addWithPasskey();
    const { browser, options } = await atSecondStep(person);
    must(await browser.ask('POST', SECOND, { passkey: soft.sign(options) }), 200);
    const confirm = async (asked: PasskeyOptions) => {
      const body = { password: PASSWORD, proof: { passkey: soft.sign(asked) } };
      return browser.ask('POST', '/me/confirm', body);
    };
    assert.equal(refusal(await confirm(options)), '401 passkey_refused', 'no challenge was asked for');
    const asked = must(await browser.ask('POST', '/me/confirm/options'), 200).body;
    must(await confirm(asked), 204);
    assert.equal(refusal(await confirm(asked)), '401 passkey_refused', 'again');
    await addApp(bed, browser);
  });
});
