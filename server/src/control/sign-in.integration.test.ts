/** Sign-in under attack, sessions that stay with their browser, and the uses of tokens. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { AuditEntry as EntrySchema, Token } from '@millrace/contract/control';
import type { Static } from 'typebox';
import {
  addMember,
  addToken,
  addWorkspace,
  startTestControl,
  type TestAnswer,
  type TestControl,
} from '../../testing/control.ts';
import { until } from '../../testing/until.ts';
import { setPassword } from '../store/users.ts';
import { openFailureLog } from './access/failure-log.ts';
import { hashPassword, IMPOSSIBLE_HASH } from './access/password.ts';
import { MAX_SESSIONS } from './access/start-session.ts';

type Entry = Static<typeof EntrySchema>;

const PASSWORD = 'correct horse battery';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';

let control: TestControl;
let workspaceId: string;
let owner: string;
let passwordHash: string;
let people = 0;

before(async () => {
  control = await startTestControl({ trustedProxies: ['127.0.0.0/8'] });
  workspaceId = await addWorkspace(control.store);
  owner = await addToken(control.store, workspaceId, { role: 'owner' });
  passwordHash = await hashPassword(PASSWORD);
});
after(() => control[Symbol.asyncDispose]());

async function addPerson(): Promise<{ email: string; userId: string }> {
  const email = `person${(people += 1)}@example.com`;
  return { email, userId: await addMember(control.store, workspaceId, { email, passwordHash, role: 'viewer' }) };
}

type Asking = { address?: string; userAgent?: string; cookie?: string };

function headersOf({ address = '192.0.2.1', userAgent = FIREFOX, cookie }: Asking): Record<string, string> {
  const sent = { 'X-Forwarded-For': address, 'User-Agent': userAgent };
  return cookie === undefined ? sent : { ...sent, Cookie: cookie };
}

function signIn(email: string, password: string, asking: Asking = {}): Promise<TestAnswer> {
  return control.ask('POST', '/api/v1/session', { body: { email, password }, headers: headersOf(asking) });
}

function cookieIn({ headers }: TestAnswer, name: string): string {
  const cookie = headers.getSetCookie().find((each) => each.startsWith(`${name}=`));
  return cookie?.split(';')[0] ?? assert.fail(`no cookie ${name}`);
}

async function entriesAbout(userId: string, action: string): Promise<Entry[]> {
  const { body } = await control.ask('GET', '/api/v1/audit-log?limit=100', { token: owner });
  return (body['items'] as Entry[]).filter((entry) => entry.objectId === userId && entry.action === action);
}

suite('signing in', () => {
  test('is refused after fifty wrong tries an hour for one account, over all networks, but not in a known browser', async () => {
    const { email } = await addPerson();
    const known = cookieIn(await signIn(email, PASSWORD), '__Host-millrace-device');
    assert.equal((await signIn(email, 'wrong', { address: '192.0.2.10' })).status, 401);
    await control.store.asSystem((tx) => tx.query('UPDATE sign_in_failures SET failures = 49'));
    assert.equal((await signIn(email, 'wrong', { address: '192.0.2.11' })).status, 401);
    const refused = await signIn(email, PASSWORD, { address: '192.0.2.12' });
    assert.deepEqual([refused.status, refused.body['code']], [429, 'too_many_tries']);
    assert.equal((await signIn(email, PASSWORD, { address: '192.0.2.12', cookie: known })).status, 204);
    const other = await addPerson();
    assert.equal((await signIn(other.email, PASSWORD, { address: '192.0.2.12', cookie: known })).status, 204);
    await control.store.asSystem((tx) => tx.query(`UPDATE sign_in_failures SET since = now() - interval '61 minutes'`));
    assert.equal((await signIn(email, PASSWORD, { address: '192.0.2.12' })).status, 204, 'an hour later');
  });

  test('that failed is in the audit log, with its addresses', async () => {
    const { email, userId } = await addPerson();
    await signIn(email, 'wrong', { address: '192.0.2.20' });
    await signIn(email.toUpperCase(), 'wrong', { address: '192.0.2.21' });
    await signIn('unknown@example.com', 'wrong', { address: '192.0.2.22' });
    const tries = async () => {
      const entries = await entriesAbout(userId, 'session.refused');
      return entries.reduce((sum, { details }) => sum + Number(details['wrong_password']), 0);
    };
    // Written within a second; the second try may be in the entry of the next minute.
    await until(async () => (await tries()) >= 1, 10_000);
    const [entry] = await entriesAbout(userId, 'session.refused');
    assert.equal(entry?.actor['kind'], 'unknown');
    assert.match(JSON.stringify(entry?.details['addresses']), /192\.0\.2\.20/);
  });

  test('adds one entry a minute at most, with the number of tries', async () => {
    const { email, userId } = await addPerson();
    let now = new Date();
    await using failures = openFailureLog({ ...control.needs, now: () => now });
    const note = () => failures.note({ email, address: '192.0.2.30', why: 'wrong_password' });
    const counts = async () => {
      await failures.flush();
      const entries = await entriesAbout(userId, 'session.refused');
      return entries.map(({ details }) => details['wrong_password']);
    };
    note();
    note();
    assert.deepEqual(await counts(), [2]);
    note();
    assert.deepEqual(await counts(), [2]);
    now = new Date(now.getTime() + 60_000);
    note();
    assert.deepEqual(await counts(), [2, 2]);
  });
});

suite('a link that is guessed', () => {
  test('has one limit for a whole network of IPv6 addresses', async () => {
    const body = { token: 'mll_none', password: 'a new long password' };
    const statuses: number[] = [];
    for (let nth = 0; nth < 31; nth += 1) {
      const headers = headersOf({ address: `2001:db8:1:2::${nth.toString(16)}` });
      statuses.push((await control.ask('POST', '/api/v1/password-resets/use', { body, headers })).status);
    }
    assert.deepEqual([statuses[0], statuses.at(-1)], [404, 429]);
  });
});

suite('a session', () => {
  test('does not begin with a password that is replaced while it is checked', async () => {
    const { email, userId } = await addPerson();
    let answer: Promise<TestAnswer> | undefined;
    await control.store.asSystem(async (tx) => {
      await setPassword(tx, { id: userId, passwordHash: IMPOSSIBLE_HASH });
      answer = signIn(email, PASSWORD, { address: '192.0.2.60' });
      await until(async () => (await tx.query('SELECT 1 AS one FROM pg_locks WHERE NOT granted')).length > 0);
    });
    assert.equal((await answer)?.status, 401);
  });

  test('ends when its cookie comes from another kind of browser, and the audit log says so', async () => {
    const { email, userId } = await addPerson();
    const cookie = cookieIn(await signIn(email, PASSWORD), '__Host-millrace');
    const me = async (userAgent: string) =>
      (await control.ask('GET', '/api/v1/me', { headers: headersOf({ userAgent, cookie }) })).status;
    assert.equal(await me(FIREFOX), 200);
    assert.equal(await me(FIREFOX.replaceAll('145', '146')), 200, 'an upgrade');
    assert.equal(await me('curl/8.5.0'), 401);
    assert.equal(await me(FIREFOX), 401, 'the thief and the owner lose it');
    assert.equal((await entriesAbout(userId, 'session.misused')).length, 1);
  });

  test('shows where it began and where it was last used', async () => {
    const { email } = await addPerson();
    const cookie = cookieIn(await signIn(email, PASSWORD, { address: '192.0.2.40' }), '__Host-millrace');
    const headers = headersOf({ address: '192.0.2.41', cookie });
    const { body } = await control.ask('GET', '/api/v1/sessions', { headers });
    const [session] = body['items'] as { address: string; lastAddress: string; isCurrent: boolean }[];
    assert.deepEqual([session?.address, session?.lastAddress], ['192.0.2.40', '192.0.2.41']);
  });

  test('is one of twenty: a new one ends the one that was unused longest', async () => {
    const { email } = await addPerson();
    const first = await signIn(email, PASSWORD);
    const device = cookieIn(first, '__Host-millrace-device');
    const cookies = [cookieIn(first, '__Host-millrace')];
    for (let nth = 0; nth < MAX_SESSIONS; nth += 1) {
      cookies.push(cookieIn(await signIn(email, PASSWORD, { cookie: device }), '__Host-millrace'));
    }
    const open = async (cookie: string | undefined) =>
      (await control.ask('GET', '/api/v1/me', { headers: headersOf({ cookie: cookie ?? '' }) })).status;
    assert.deepEqual([await open(cookies[0]), await open(cookies[1]), await open(cookies.at(-1))], [401, 200, 200]);
  });
});

suite('a token', () => {
  test('shows when and from where it was last used, and the role that it has now', async () => {
    const made = await control.ask('POST', '/api/v1/tokens', { token: owner, body: { name: 'T', role: 'admin' } });
    const { id, token } = made.body as unknown as Token & { token: string };
    const read = async () => {
      const { body } = await control.ask('GET', '/api/v1/tokens', { token: owner });
      return (body['items'] as Token[]).find((each) => each.id === id);
    };
    assert.deepEqual([(await read())?.lastUsedAt, (await read())?.lastUsedAddress], [null, null]);
    await control.ask('GET', '/api/v1/sources', { token, headers: headersOf({ address: '192.0.2.50' }) });
    const used = await read();
    assert.equal(used?.lastUsedAddress, '192.0.2.50');
    assert.ok(used?.lastUsedAt !== null);
    assert.equal(used?.roleNow, 'admin');
    await control.store.asSystem((tx) =>
      tx.query(`UPDATE tokens SET expires_at = now() - interval '1 second' WHERE id = $1`, [id]),
    );
    assert.equal((await read())?.roleNow, null, 'it has ended');
  });
});
