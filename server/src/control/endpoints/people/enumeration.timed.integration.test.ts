/** No answer says whether an address has an account: neither its status, nor its body, nor its time. */
import assert from 'node:assert/strict';
import { after, before, suite, test, type TestContext } from 'node:test';
import { addMember, addToken, addWorkspace, startTestControl, type TestControl } from '../../../../testing/control.ts';
import { hashPassword } from '../../access/password.ts';

const TRIES = 100;
const MOST_DIFFERENCE_MS = 5;
/** A busy neighbour of the machine can outlast one round. An answer that takes longer for an account does so in each. */
const ROUNDS = 5;
/** For each round, because a workspace may have 100 open invitations. */
const WORKSPACES = 3;

let control: TestControl;
const owners: string[] = [];
const knownAt = (round: number, at: number) => `known${round}-${at}@example.com`;
const unknownAt = (round: number, at: number) => `other${round}-${at}@example.com`;

before(async () => {
  const mail = { consoleUrl: 'https://millrace.example.com' };
  control = await startTestControl({ mail, trustedProxies: ['127.0.0.0/8'] });
  const passwordHash = await hashPassword('correct horse battery');
  const home = await addWorkspace(control.store);
  for (let at = 0; at < TRIES * ROUNDS; at += 1) {
    const email = knownAt(Math.floor(at / TRIES), at % TRIES);
    await addMember(control.store, home, { email, passwordHash, role: 'viewer' });
  }
  for (let at = 0; at < WORKSPACES * ROUNDS; at += 1) {
    owners.push(await addToken(control.store, await addWorkspace(control.store), { role: 'owner' }));
  }
});
after(async () => control[Symbol.asyncDispose]());

let asked = 0;
type Told = { ms: number; status: number; body: Record<string, unknown> };

/** Each try comes from an address of its own, as an attacker with many would send it. */
async function post(path: string, body: object, token?: string): Promise<Told> {
  asked += 1;
  const headers = { 'X-Forwarded-For': `203.0.${113 + (asked >> 8)}.${asked & 255}` };
  const startedAt = performance.now();
  const options = { body, headers, ...(token === undefined ? {} : { token }) };
  const answer = await control.ask('POST', `/api/v1${path}`, options);
  return { ms: performance.now() - startedAt, status: answer.status, body: answer.body };
}

type Ask = (email: string, at: number) => Promise<Told>;

async function compare(t: TestContext, ask: Ask, own: readonly string[]): Promise<void> {
  for (let at = 0; at < 10; at += 1) await ask(`warm${at}-${asked}@example.com`, at);
  let difference = Infinity;
  for (let round = 0; round < ROUNDS && difference >= MOST_DIFFERENCE_MS; round += 1) {
    const [ofKnown, ofUnknown] = await askAll(ask, round);
    const seen = (told: readonly Told[]) =>
      new Set(told.map(({ status, body }) => JSON.stringify([status, without(body, own)])));
    assert.equal(seen(ofKnown).size, 1, [...seen(ofKnown)].join('\n'));
    assert.deepEqual(seen(ofKnown), seen(ofUnknown));
    const [one, other] = [median(ofKnown), median(ofUnknown)];
    t.diagnostic(`medians of ${TRIES}: known ${one.toFixed(2)} ms, unknown ${other.toFixed(2)} ms`);
    difference = Math.abs(one - other);
  }
  assert.ok(difference < MOST_DIFFERENCE_MS, `${difference} ms in the last of ${ROUNDS} rounds`);
}

/** Known and unknown addresses by turns, each first in half of them, so that a slow moment of the machine falls on both. */
async function askAll(ask: Ask, round: number): Promise<[Told[], Told[]]> {
  const ofKnown: Told[] = [];
  const ofUnknown: Told[] = [];
  const turns = [
    async (at: number) => ofKnown.push(await ask(knownAt(round, at), round * TRIES + at)),
    async (at: number) => ofUnknown.push(await ask(unknownAt(round, at), round * TRIES + at)),
  ];
  for (let at = 0; at < TRIES; at += 1) {
    for (const turn of at % 2 === 0 ? turns : turns.toReversed()) await turn(at);
  }
  return [ofKnown, ofUnknown];
}

function without(body: Record<string, unknown>, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
}

function median(told: readonly Told[]): number {
  return told.map(({ ms }) => ms).toSorted((one, other) => one - other)[told.length >> 1] ?? 0;
}

suite('an address with an account gets the same answer in the same time as one without', () => {
  test('for a sign-in with a wrong password', async (t) => {
    await compare(t, (email) => post('/session', { email, password: 'a wrong password' }), ['requestId']);
  });

  test('for a new password', async (t) => {
    await compare(t, (email) => post('/password-resets', { email }), []);
  });

  test('for an invitation', async (t) => {
    const invite = (email: string, at: number) =>
      post('/invitations', { email, role: 'viewer' }, owners[Math.floor(at / TRIES) * WORKSPACES + (at % WORKSPACES)]);
    await compare(t, invite, ['id', 'email', 'createdAt', 'expiresAt', 'createdBy']);
  });
});
