/** A token has no more rights and no longer life than the user or token that made it. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Token } from '@millrace/contract/control';
import { addMember, addToken, addWorkspace, startTestControl, type TestControl } from '../../testing/control.ts';
import { hashPassword } from './access/password.ts';

const PASSWORD = 'correct horse battery';
const OUR_PAGE = { 'Sec-Fetch-Site': 'same-origin', 'Millrace-Csrf': '1' };
let control: TestControl;
let passwordHash: string;

before(async () => {
  control = await startTestControl();
  passwordHash = await hashPassword(PASSWORD);
});
after(() => control[Symbol.asyncDispose]());

suite('a token', () => {
  test('ends when the user who made it is taken out of the workspace, and so does what it made', async () => {
    const { owner, maker, makerId } = await openScene();
    const made = await maker({ role: 'admin' });
    const child = await withToken(made.token)({ role: 'admin' });
    assert.deepEqual([await statusOf(made.token), await statusOf(child.token)], [200, 200]);
    assert.equal((await control.ask('DELETE', `/api/v1/members/${makerId}`, { token: owner })).status, 204);
    assert.deepEqual([await statusOf(made.token), await statusOf(child.token)], [401, 401]);
    const { items } = (await control.ask('GET', '/api/v1/tokens', { token: owner })).body as { items: Token[] };
    assert.ok(
      items.every(({ id }) => id !== made.id && id !== child.id),
      'they are revoked, not hidden',
    );
    const log = (await control.ask('GET', '/api/v1/audit-log', { token: owner })).text;
    assert.ok(log.includes(made.id) && log.includes(child.id), 'and the log says so');
  });

  test('loses the rights that its maker loses', async () => {
    const { owner, maker, makerId } = await openScene();
    const { token } = await maker({ role: 'admin' });
    const child = await withToken(token)({ role: 'admin' });
    await control.ask('PATCH', `/api/v1/members/${makerId}`, { token: owner, body: { role: 'viewer' } });
    for (const each of [token, child.token]) {
      assert.equal(await statusOf(each), 200, 'it may read');
      const made = await control.ask('POST', '/api/v1/sources', { token: each, body: { name: 'S' } });
      assert.equal(made.status, 403, 'it may not write any more');
      const me = await control.ask('GET', '/api/v1/me', { token: each });
      assert.equal((me.body['workspaces'] as { role: string }[])[0]?.role, 'viewer');
    }
  });

  test('loses them however many tokens are between it and its maker', async () => {
    const { owner, maker, makerId } = await openScene();
    let { token } = await maker({ role: 'admin' });
    for (let depth = 0; depth < 30; depth += 1) ({ token } = await withToken(token)({ role: 'admin' }));
    await control.ask('PATCH', `/api/v1/members/${makerId}`, { token: owner, body: { role: 'viewer' } });
    const made = await control.ask('POST', '/api/v1/sources', { token, body: { name: 'S' } });
    assert.equal(made.status, 403);
  });

  test('makes none that lives longer than itself', async () => {
    const { workspaceId } = await openScene();
    const expiresAt = new Date(Date.now() + 3_600_000);
    const limited = await addToken(control.store, workspaceId, { role: 'admin', expiresAt });
    const later = { name: 'T', role: 'viewer', expiresAt: new Date(expiresAt.getTime() + 1_000).toISOString() };
    const refused = await control.ask('POST', '/api/v1/tokens', { token: limited, body: later });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /must not be after .*, the end of the token that asks/);
    const made = await withToken(limited)({ role: 'viewer' });
    assert.equal(made.expiresAt, expiresAt.toISOString(), 'without an end it has that of its maker');
    const grandchild = await withToken(limited)({ role: 'admin' });
    assert.equal((await withToken(grandchild.token)({ role: 'viewer' })).expiresAt, expiresAt.toISOString());
  });

  test('that is revoked takes with it what was made with it, as after a leak', async () => {
    const { owner, maker } = await openScene();
    const leaked = await maker({ role: 'admin' });
    const hidden = await withToken((await withToken(leaked.token)({ role: 'admin' })).token)({ role: 'admin' });
    assert.equal(await statusOf(hidden.token), 200);
    assert.equal((await control.ask('DELETE', `/api/v1/tokens/${leaked.id}`, { token: owner })).status, 204);
    assert.equal(await statusOf(hidden.token), 401);
  });

  test('of a maker that an older version removed has ended too; one of before is shown as such', async () => {
    const { workspaceId, owner, maker, makerId } = await openScene();
    const { token, id } = await maker({ role: 'viewer' });
    await control.store.inWorkspace(workspaceId, (tx) => tx.query('DELETE FROM members WHERE user_id = $1', [makerId]));
    assert.equal(await statusOf(token), 401);
    await control.store.inWorkspace(workspaceId, (tx) =>
      tx.query('UPDATE tokens SET ends_with_maker = false WHERE id = $1', [id]),
    );
    assert.equal(await statusOf(token), 200);
    const { items } = (await control.ask('GET', '/api/v1/tokens', { token: owner })).body as { items: Token[] };
    assert.equal(items.find((each) => each.id === id)?.endsWithMaker, false);
  });
});

type Made = Token & { token: string };
let people = 0;

async function openScene() {
  const workspaceId = await addWorkspace(control.store);
  const owner = await addToken(control.store, workspaceId, { role: 'owner' });
  people += 1;
  const email = `maker${people}@example.com`;
  const makerId = await addMember(control.store, workspaceId, { email, passwordHash, role: 'admin' });
  const signedIn = await control.ask('POST', '/api/v1/session', { body: { email, password: PASSWORD } });
  const cookie = { Cookie: signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
  const maker = (body: object) => make({ headers: { ...cookie, ...OUR_PAGE } }, body);
  return { workspaceId, owner, maker, makerId };
}

function withToken(token: string) {
  return (body: object) => make({ token }, body);
}

async function make(as: object, body: object): Promise<Made> {
  const answer = await control.ask('POST', '/api/v1/tokens', { ...as, body: { name: 'T', ...body } });
  assert.equal(answer.status, 201, answer.text);
  return answer.body as unknown as Made;
}

async function statusOf(token: string): Promise<number> {
  return (await control.ask('GET', '/api/v1/sources', { token })).status;
}
