import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { checkAudit } from '../store/audit-log.ts';
import { addMember, addToken, addWorkspace, startTestControl, type TestControl } from '../../testing/control.ts';
import { hashPassword } from './access/password.ts';

const PASSWORD = 'correct horse battery';
const OUR_PAGE = { 'Sec-Fetch-Site': 'same-origin', 'Millrace-Csrf': '1' };

let control: TestControl;
let workspaceId: string;
let owner: string;

before(async () => {
  control = await startTestControl();
  workspaceId = await addWorkspace(control.store);
  owner = await addToken(control.store, workspaceId, { role: 'owner' });
  const passwordHash = await hashPassword(PASSWORD);
  await addMember(control.store, workspaceId, { email: 'ann@example.com', passwordHash, role: 'owner' });
});
after(async () => control[Symbol.asyncDispose]());

const codeOf = ({ status, body }: { status: number; body: Record<string, unknown> }) =>
  body['code'] === undefined ? String(status) : `${status} ${body['code'] as string}`;

async function signIn(email = 'ann@example.com', password = PASSWORD): Promise<{ Cookie: string }> {
  const answer = await control.ask('POST', '/api/v1/session', { body: { email, password } });
  assert.equal(answer.status, 204, answer.text);
  const [cookie = '', device = ''] = answer.headers.getSetCookie();
  assert.match(cookie, /^__Host-millrace=mls_\w+; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  assert.match(device, /^__Host-millrace-device=[\w-]+; Max-Age=15552000; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  return { Cookie: cookie.split(';')[0] ?? '' };
}

suite('tokens', () => {
  test('are refused when unknown, mistyped, expired, revoked or in another scheme', async () => {
    const expired = await addToken(control.store, workspaceId, { role: 'owner', expiresAt: new Date(Date.now() - 1) });
    for (const token of [expired, owner.slice(0, -1), `${owner}0`, 'x'.repeat(40), 'mlr_', 'a b']) {
      assert.equal(codeOf(await control.ask('GET', '/api/v1/workspace', { token })), '401 not_signed_in', token);
    }
    const headers = { Authorization: `Basic ${Buffer.from(`${owner}:`).toString('base64')}` };
    assert.equal((await control.ask('GET', '/api/v1/workspace', { headers })).status, 401);
    const made = await control.ask('POST', '/api/v1/tokens', { token: owner, body: { name: 'CI', role: 'viewer' } });
    const token = made.body['token'] as string;
    assert.equal((await control.ask('GET', '/api/v1/workspace', { token })).status, 200);
    const path = `/api/v1/tokens/${made.body['id'] as string}`;
    assert.equal((await control.ask('DELETE', path, { token: owner })).status, 204);
    assert.equal((await control.ask('GET', '/api/v1/workspace', { token })).status, 401);
    assert.equal((await control.ask('DELETE', path, { token: owner })).status, 404);
  });

  test('are shown once and never have more than who made them', async () => {
    const admin = await addToken(control.store, workspaceId, { role: 'admin' });
    const scoped = await addToken(control.store, workspaceId, {
      role: 'admin',
      scopes: ['tokens:write', 'sources:read'],
    });
    const make = async (token: string, body: object) =>
      codeOf(await control.ask('POST', '/api/v1/tokens', { token, body: { name: 'T', ...body } }));
    assert.equal(await make(admin, { role: 'admin' }), '201');
    assert.equal(await make(admin, { role: 'owner' }), '403 not_allowed');
    assert.equal(await make(scoped, { role: 'admin' }), '403 not_allowed');
    assert.equal(await make(scoped, { role: 'admin', scopes: ['sources:write'] }), '403 not_allowed');
    assert.equal(await make(scoped, { role: 'viewer', scopes: ['sources:read'] }), '201');
    assert.equal(await make(admin, { role: 'viewer', scopes: ['sources:everything'] }), '400 invalid_request');
    for (const expiresAt of ['2020-01-01T00:00:00Z', '2099-01-01T23:59:60Z', 'tomorrow']) {
      assert.equal(await make(admin, { role: 'viewer', expiresAt }), '400 invalid_request');
    }
    const list = await control.ask('GET', '/api/v1/tokens', { token: owner });
    assert.equal(list.text.includes('mlr_'), false);
    const member = { email: 'x@example.com', role: 'viewer' };
    const scopedToMembers = await addToken(control.store, workspaceId, { role: 'admin', scopes: ['members:write'] });
    const added = await control.ask('POST', '/api/v1/invitations', { token: scopedToMembers, body: member });
    assert.equal(codeOf(added), '403 not_allowed');
  });

  test('belong to one workspace, whatever the header says', async () => {
    const headers = { 'Millrace-Workspace': await addWorkspace(control.store, 'Other') };
    assert.equal((await control.ask('GET', '/api/v1/workspace', { token: owner, headers })).status, 404);
    const own = { 'Millrace-Workspace': workspaceId };
    assert.equal((await control.ask('GET', '/api/v1/workspace', { token: owner, headers: own })).status, 200);
  });
});

suite('sessions', () => {
  test('begin with the right password only, and unknown people look like wrong passwords', async () => {
    const tryIt = async (email: string, password: string) =>
      control.ask('POST', '/api/v1/session', { body: { email, password } });
    const wrong = await tryIt('ann@example.com', 'wrong');
    const unknown = await tryIt('nobody@example.com', 'wrong');
    assert.equal(codeOf(wrong), '401 wrong_password');
    assert.deepEqual({ ...unknown.body, requestId: '' }, { ...wrong.body, requestId: '' });
    const cookie = await signIn('ANN@example.com');
    const me = await control.ask('GET', '/api/v1/me', { headers: cookie });
    assert.equal((me.body['user'] as { email: string }).email, 'ann@example.com');
  });

  test('allow ten tries a minute for each person and address', async () => {
    const tries = Array.from({ length: 11 }, () => ({ email: 'guess@example.com', password: 'guess' }));
    const codes: string[] = [];
    for (const body of tries) codes.push(codeOf(await control.ask('POST', '/api/v1/session', { body })));
    assert.deepEqual(codes, [...Array.from({ length: 10 }, () => '401 wrong_password'), '429 too_many_tries']);
    await signIn();
  });

  test('are listed, revoked one by one or all others at once, and end with signing out', async () => {
    const [first, second, third] = [await signIn(), await signIn(), await signIn()];
    const headers = { ...first, ...OUR_PAGE };
    const list = async () =>
      (await control.ask('GET', '/api/v1/sessions', { headers: first })).body['items'] as {
        id: string;
        isCurrent: boolean;
      }[];
    const isIn = async (cookie: { Cookie: string }) =>
      (await control.ask('GET', '/api/v1/me', { headers: cookie })).status === 200;
    const other = (await list()).find((session) => !session.isCurrent);
    assert.equal((await control.ask('DELETE', `/api/v1/sessions/${other?.id}`, { headers })).status, 204);
    assert.equal((await control.ask('DELETE', `/api/v1/sessions/${other?.id}`, { headers })).status, 404);
    assert.equal((await control.ask('POST', '/api/v1/sessions/revoke-others', { headers })).status, 204);
    assert.deepEqual([await isIn(first), await isIn(second), await isIn(third)], [true, false, false]);
    assert.equal((await list()).length, 1);
    const out = await control.ask('DELETE', '/api/v1/session', { headers });
    assert.match(out.headers.get('set-cookie') ?? '', /^__Host-millrace=; .*Expires=Thu, 01 Jan 1970/);
    assert.equal(await isIn(first), false);
  });

  test('end everywhere else when the password changes', async () => {
    const passwordHash = await hashPassword(PASSWORD);
    await addMember(control.store, workspaceId, { email: 'bob@example.com', passwordHash, role: 'viewer' });
    const [here, elsewhere] = [await signIn('bob@example.com'), await signIn('bob@example.com')];
    const change = (currentPassword: string) =>
      control.ask('POST', '/api/v1/me/password', {
        headers: { ...here, ...OUR_PAGE },
        body: { currentPassword, newPassword: 'another long password' },
      });
    assert.equal(codeOf(await change('wrong')), '401 wrong_password');
    assert.equal(codeOf(await change(PASSWORD)), '204');
    assert.equal((await control.ask('GET', '/api/v1/me', { headers: here })).status, 200);
    assert.equal((await control.ask('GET', '/api/v1/me', { headers: elsewhere })).status, 401);
    await signIn('bob@example.com', 'another long password');
  });

  test('name their workspace when there are several, and never one that is not theirs', async () => {
    const [one, other] = [await addWorkspace(control.store, 'One'), await addWorkspace(control.store, 'Two')];
    const passwordHash = await hashPassword(PASSWORD);
    await addMember(control.store, one, { email: 'cy@example.com', passwordHash, role: 'owner' });
    const token = await addToken(control.store, other, { role: 'owner' });
    const cookie = await signIn('cy@example.com');
    const read = async (headers: Record<string, string> = {}) => {
      const answer = await control.ask('GET', '/api/v1/workspace', { headers: { ...cookie, ...headers } });
      return answer.status === 200 ? answer.body['name'] : codeOf(answer);
    };
    assert.equal(await read(), 'One');
    assert.equal(await read({ 'Millrace-Workspace': other }), '404 not_found');
    const body = { email: 'cy@example.com', role: 'viewer' };
    const invited = await control.ask('POST', '/api/v1/invitations', { token, body });
    assert.equal(invited.status, 201);
    const headers = { ...cookie, ...OUR_PAGE };
    const joined = { headers, body: { token: invited.body['token'] } };
    assert.equal((await control.ask('POST', '/api/v1/me/workspaces', joined)).status, 201);
    assert.equal(await read(), '400 workspace_required');
    assert.equal(await read({ 'Millrace-Workspace': other }), 'Two');
  });
});

suite('writes that a cookie vouches for', () => {
  test('are refused unless they come from our own pages', async () => {
    const cookie = await signIn();
    const { host } = new URL(control.url);
    const rename = async (headers: Record<string, string>) =>
      codeOf(
        await control.ask('PATCH', '/api/v1/workspace', { headers: { ...cookie, ...headers }, body: { name: 'N' } }),
      );
    assert.equal(await rename({}), '403 cross_site');
    assert.equal(await rename({ 'Sec-Fetch-Site': 'same-origin' }), '403 cross_site');
    assert.equal(await rename({ 'Millrace-Csrf': '1' }), '403 cross_site');
    for (const site of ['cross-site', 'same-site', 'none']) {
      assert.equal(await rename({ ...OUR_PAGE, 'Sec-Fetch-Site': site }), '403 cross_site', site);
    }
    assert.equal(await rename({ 'Millrace-Csrf': '1', Origin: 'https://evil.example' }), '403 cross_site');
    assert.equal(await rename({ 'Millrace-Csrf': '1', Origin: 'null' }), '403 cross_site');
    assert.equal(await rename({ 'Millrace-Csrf': '1', Origin: `http://${host}` }), '200');
    assert.equal(await rename(OUR_PAGE), '200');
    assert.equal(await rename({ ...OUR_PAGE, 'Content-Type': 'text/plain' }), '415 not_json');
  });

  test('a token is judged alone: its cookies are never looked at', async () => {
    const cookie = await signIn();
    const viewer = await addToken(control.store, workspaceId, { role: 'viewer' });
    const options = { headers: { ...cookie, ...OUR_PAGE }, body: { name: 'N' } };
    assert.equal((await control.ask('PATCH', '/api/v1/workspace', { ...options, token: viewer })).status, 403);
    assert.equal((await control.ask('PATCH', '/api/v1/workspace', { ...options, token: 'wrong' })).status, 401);
  });

  test('another site cannot sign its visitor in', async () => {
    const body = { email: 'ann@example.com', password: PASSWORD };
    const headers = { Origin: 'https://evil.example' };
    assert.equal(codeOf(await control.ask('POST', '/api/v1/session', { body, headers })), '403 cross_site');
  });
});

suite('the audit log', () => {
  test('has every change with who made it, and holds together', async () => {
    await control.ask('PATCH', '/api/v1/workspace', { token: owner, body: { name: 'Renamed' } });
    const { body } = await control.ask('GET', '/api/v1/audit-log?limit=100', { token: owner });
    const items = body['items'] as { sequence: number; action: string; actor: Record<string, string> }[];
    assert.equal(items.find(({ action }) => action === 'workspace.changed')?.actor['kind'], 'token');
    const sequences = items.map(({ sequence }) => sequence);
    assert.deepEqual(
      sequences,
      [...sequences.keys()].map((index) => (sequences[0] ?? 0) - index),
    );
    const checked = await control.store.inWorkspace(workspaceId, (tx) => checkAudit(tx, workspaceId, {}));
    assert.equal(checked.kind, 'holds');
  });
});
