/** Links of an installation that sends no mail: shown once, to the admin who makes them. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { addMember, addToken, addWorkspace, startTestControl, type TestControl } from '../../../../testing/control.ts';
import { insertMember } from '../../../store/members.ts';
import { findUser, removeMemberless } from '../../../store/users.ts';
import { hashPassword } from '../../access/password.ts';
import { makeResetLink } from '../../mail/make-reset-link.ts';

const PASSWORD = 'correct horse battery';
const NEW_PASSWORD = 'a new long password';
const OUR_PAGE = { 'Sec-Fetch-Site': 'same-origin', 'Millrace-Csrf': '1' };

let control: TestControl;
before(async () => {
  control = await startTestControl();
});
after(async () => control[Symbol.asyncDispose]());

let people = 0;
async function openScene(role: 'owner' | 'viewer' = 'viewer') {
  const workspaceId = await addWorkspace(control.store);
  const email = `person${(people += 1)}@example.com`;
  const passwordHash = await hashPassword(PASSWORD);
  const userId = await addMember(control.store, workspaceId, { email, passwordHash, role });
  const admin = await addToken(control.store, workspaceId, { role: 'admin' });
  return { workspaceId, email, userId, admin };
}

type Scene = Awaited<ReturnType<typeof openScene>>;
const makeLink = ({ userId }: Scene, token: string) =>
  control.ask('POST', `/api/v1/members/${userId}/password-link`, { token });
const useLink = (token: unknown) =>
  control.ask('POST', '/api/v1/password-resets/use', { body: { token, password: NEW_PASSWORD } });
const signIn = (email: string, password: string) =>
  control.ask('POST', '/api/v1/session', { body: { email, password } });

suite('a link to a new password', () => {
  test('is shown once to the admin who makes it, and opens the account once', async () => {
    const scene = await openScene();
    const made = await makeLink(scene, scene.admin);
    assert.equal(made.status, 201, made.text);
    const { token, link, sentByMail } = made.body;
    assert.deepEqual([sentByMail, link], [false, `/reset#token=${String(token)}`]);
    assert.equal((await useLink(token)).status, 204);
    assert.equal((await useLink(token)).status, 404);
    assert.equal((await signIn(scene.email, NEW_PASSWORD)).status, 204);
    const log = await control.ask('GET', '/api/v1/audit-log', { token: scene.admin });
    assert.match(log.text, /member\.link_made/);
    assert.ok(!log.text.includes(String(token)));
  });

  test('opens no workspace that its maker may not see', async () => {
    const scene = await openScene();
    const other = await addWorkspace(control.store);
    await control.store.asSystem((tx) =>
      insertMember(tx, { workspaceId: other, userId: scene.userId, role: 'viewer' }),
    );
    const refused = await makeLink(scene, scene.admin);
    assert.equal(refused.status, 403);
    assert.match(refused.text, /reset-link/);
  });

  test('gives no role above that of its maker, and nothing to a narrowed token', async () => {
    const scene = await openScene('owner');
    assert.equal((await makeLink(scene, scene.admin)).status, 403);
    const scopes = ['members:read', 'members:write'];
    const narrowed = await addToken(control.store, scene.workspaceId, { role: 'owner', scopes });
    assert.equal((await makeLink(scene, narrowed)).status, 403);
  });

  test('opens no operator, and nothing that the member has got since it was made', async () => {
    const scene = await openScene();
    const { store } = control;
    const { userId, workspaceId } = scene;
    const run = (sql: string) => store.asSystem((tx) => tx.query(sql, [userId]));
    const madeFor = async (change: () => Promise<unknown>) => {
      const { token } = (await makeLink(scene, scene.admin)).body;
      await change();
      return (await useLink(token)).status;
    };
    assert.equal(await madeFor(() => run(`UPDATE members SET role = 'owner' WHERE user_id = $1`)), 404, 'a role');
    await run(`UPDATE members SET role = 'viewer' WHERE user_id = $1`);
    const makeOperator = () => run(`INSERT INTO operators (id, kind, added_by) VALUES ($1, 'user', 'test')`);
    assert.equal(await madeFor(makeOperator), 404, 'the installation');
    await run('DELETE FROM account_links WHERE user_id = $1');
    assert.equal((await makeLink(scene, scene.admin)).status, 403, 'an operator');
    const owner = await addToken(store, workspaceId, { role: 'owner' });
    assert.equal((await makeLink(scene, owner)).status, 403, 'not even for an owner');
    await run('DELETE FROM operators WHERE id = $1');
    const join = async () => {
      const other = await addWorkspace(store);
      await store.asSystem((tx) => insertMember(tx, { workspaceId: other, userId, role: 'viewer' }));
    };
    assert.equal(await madeFor(join), 404, 'a workspace');
  });

  test('ends with a new password, whichever way it was set', async () => {
    const scene = await openScene();
    const { token } = (await makeLink(scene, scene.admin)).body;
    const cookie = (await signIn(scene.email, PASSWORD)).headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const body = { currentPassword: PASSWORD, newPassword: `${NEW_PASSWORD}!` };
    const changed = await control.ask('POST', '/api/v1/me/password', {
      headers: { ...OUR_PAGE, Cookie: cookie },
      body,
    });
    assert.equal(changed.status, 204, changed.text);
    assert.equal((await useLink(token)).status, 404);
  });

  test('is made by the operator for any account, and for none that does not exist', async () => {
    const { email } = await openScene('owner');
    const made = await makeResetLink(control.postgres.serviceUrl, email, new Date());
    assert.equal((await useLink(made?.secret)).status, 204);
    assert.equal(await makeResetLink(control.postgres.serviceUrl, 'none@example.com', new Date()), undefined);
  });
});

suite('a link to a new address', () => {
  test('changes it only when the member signs in and confirms it', async () => {
    const scene = await openScene();
    const email = `moved${people}@example.com`;
    const path = `/api/v1/members/${scene.userId}/email-link`;
    const made = await control.ask('POST', path, { token: scene.admin, body: { email } });
    assert.equal(made.status, 201, made.text);
    const { token } = made.body;
    assert.equal((await useLink(token)).status, 404, 'it is no link to a password');
    const cookie = (await signIn(scene.email, PASSWORD)).headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const headers = { ...OUR_PAGE, Cookie: cookie };
    const confirmed = await control.ask('POST', '/api/v1/me/email/confirm', { headers, body: { token } });
    assert.equal(confirmed.status, 200, confirmed.text);
    assert.equal((await signIn(email, PASSWORD)).status, 204);
    const asked = { headers, body: { email: 'x@example.com', password: PASSWORD } };
    const alone = await control.ask('POST', '/api/v1/me/email', asked);
    assert.equal(alone.body['code'], 'no_mail');
  });
});

suite('an account without a workspace', () => {
  test('is removed after a day, with its sessions, and not if it joins again', async () => {
    const [gone, back] = [await openScene(), await openScene()];
    const { store } = control;
    const remove = async ({ workspaceId, userId }: Scene) => {
      const owner = await addToken(store, workspaceId, { role: 'owner' });
      assert.equal((await control.ask('DELETE', `/api/v1/members/${userId}`, { token: owner })).status, 204);
    };
    const dayLater = () =>
      store.asSystem((tx) => tx.query(`UPDATE users SET memberless_since = memberless_since - interval '25 hours'`));
    await remove(gone);
    await remove(back);
    assert.deepEqual(await store.asSystem(removeMemberless), [], 'not at once');
    await dayLater();
    const { workspaceId, userId } = back;
    await store.asSystem((tx) => insertMember(tx, { workspaceId, userId, role: 'viewer' }));
    assert.deepEqual(await store.asSystem(removeMemberless), [gone.userId]);
    assert.equal(await store.asSystem((tx) => findUser(tx, gone.userId)), undefined);
    assert.equal((await signIn(back.email, PASSWORD)).status, 204);
    assert.equal((await signIn(gone.email, PASSWORD)).status, 401);
  });
});
