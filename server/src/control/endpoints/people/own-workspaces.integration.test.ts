import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { addMember, addWorkspace, startTestControl } from '../../../../testing/control.ts';
import { insertMember } from '../../../store/members.ts';
import { hashPassword } from '../../access/password.ts';

const PASSWORD = 'correct horse battery';
const OUR_PAGE = { 'Sec-Fetch-Site': 'same-origin', 'Millrace-Csrf': '1' };

type Workspaces = { id: string; name: string; role: string }[];

/** The first workspace with its owner, who is the operator; a second one with an owner and a viewer. */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
async function openScene(workspaceCreation?: 'operator' | 'everyone') {
  await using opening = new AsyncDisposableStack();
  const control = opening.use(await startTestControl(workspaceCreation === undefined ? {} : { workspaceCreation }));
  const passwordHash = await hashPassword(PASSWORD);
  const first = await addWorkspace(control.store, 'First');
  const second = await addWorkspace(control.store, 'Second');
  const add = (workspaceId: string, name: string, role: 'owner' | 'viewer') =>
    addMember(control.store, workspaceId, { email: `${name}@example.com`, passwordHash, role });
  const operator = await add(first, 'operator', 'owner');
  const owner = await add(second, 'owner', 'owner');
  const viewer = await add(second, 'viewer', 'viewer');
  const sessions = new Map<string, string>();
  const as = async (name: string) => {
    const known = sessions.get(name);
    const body = { email: `${name}@example.com`, password: PASSWORD };
    const cookie =
      known ?? (await control.ask('POST', '/api/v1/session', { body })).headers.getSetCookie()[0]?.split(';')[0] ?? '';
    sessions.set(name, cookie);
    return { ...OUR_PAGE, Cookie: cookie };
  };
  const ask = async (name: string, method: string, path: string, body?: object) =>
    control.ask(method, `/api/v1${path}`, { headers: await as(name), ...(body && { body }) });
  const readIn = async (workspaceId: string, name: string, path: string) =>
    control.ask('GET', `/api/v1${path}`, { headers: { ...(await as(name)), 'Millrace-Workspace': workspaceId } });
  const workspacesOf = async (name: string) => (await ask(name, 'GET', '/me')).body['workspaces'] as Workspaces;
  const opened = opening.move();
  const ids = { first, second, operator, owner, viewer };
  return { control, ids, ask, readIn, workspacesOf, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

suite('a new workspace', () => {
  test('is made by the operator, and belongs to them', async () => {
    await using scene = await openScene();
    assert.equal((await scene.ask('owner', 'POST', '/workspaces', { name: 'Mine' })).status, 403);
    const made = await scene.ask('operator', 'POST', '/workspaces', { name: 'Third' });
    assert.equal(made.status, 201, made.text);
    const workspaces = await scene.workspacesOf('operator');
    assert.deepEqual(
      workspaces.map(({ name, role }) => [name, role]),
      [
        ['First', 'owner'],
        ['Third', 'owner'],
      ],
    );
  });

  test('is made by everyone who is signed in, where the setting says so, and others do not see it', async () => {
    await using scene = await openScene('everyone');
    const made = await scene.ask('viewer', 'POST', '/workspaces', { name: 'Mine' });
    assert.equal(made.status, 201, made.text);
    const id = String(made.body['id']);
    assert.match((await scene.readIn(id, 'viewer', '/audit-log')).text, /workspace\.created/);
    assert.equal((await scene.readIn(id, 'owner', '/sources')).status, 404);
    assert.equal((await scene.readIn(id, 'operator', '/sources')).status, 404, 'the operator neither');
  });

  test('is one of at most fifty of a person', async () => {
    await using scene = await openScene();
    const { store } = scene.control;
    for (let at = 1; at < 50; at += 1) {
      const workspaceId = await addWorkspace(store);
      await store.asSystem((tx) => insertMember(tx, { workspaceId, userId: scene.ids.operator, role: 'viewer' }));
    }
    const refused = await scene.ask('operator', 'POST', '/workspaces', { name: 'One more' });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /50 workspaces/);
  });
});

suite('leaving a workspace', () => {
  test('ends the membership and the tokens made there, and is in the audit log', async () => {
    await using scene = await openScene();
    const { second } = scene.ids;
    await scene.ask('owner', 'PATCH', `/members/${scene.ids.viewer}`, { role: 'admin' });
    const made = await scene.ask('viewer', 'POST', '/tokens', { name: 'T', role: 'viewer' });
    assert.equal(made.status, 201, made.text);
    const token = String(made.body['token']);
    assert.equal((await scene.ask('viewer', 'DELETE', `/me/workspaces/${second}`)).status, 204);
    assert.deepEqual(await scene.workspacesOf('viewer'), []);
    assert.equal((await scene.control.ask('GET', '/api/v1/sources', { token })).status, 401);
    assert.equal((await scene.ask('viewer', 'DELETE', `/me/workspaces/${second}`)).status, 404);
    assert.match((await scene.ask('owner', 'GET', '/audit-log')).text, /member\.left/);
  });

  test('is not open to the last owner, and tells a stranger nothing', async () => {
    await using scene = await openScene();
    const { first, second } = scene.ids;
    const refused = await scene.ask('owner', 'DELETE', `/me/workspaces/${second}`);
    assert.equal(refused.body['code'], 'last_owner');
    assert.equal((await scene.ask('owner', 'DELETE', `/me/workspaces/${first}`)).status, 404);
  });
});

suite('handing a workspace over', () => {
  test('makes the member an owner and the owner an admin, who may then leave', async () => {
    await using scene = await openScene();
    const { owner, viewer, second, operator } = scene.ids;
    const transfer = (name: string, userId: string) => scene.ask(name, 'POST', '/workspace/transfer', { userId });
    assert.equal((await transfer('viewer', viewer)).status, 403);
    assert.equal((await transfer('owner', owner)).status, 409, 'not to oneself');
    assert.equal((await transfer('owner', operator)).status, 404, 'not to a stranger');
    assert.equal((await transfer('owner', viewer)).status, 200);
    assert.equal((await scene.workspacesOf('viewer'))[0]?.role, 'owner');
    assert.equal((await scene.workspacesOf('owner'))[0]?.role, 'admin');
    assert.match((await scene.ask('viewer', 'GET', '/audit-log')).text, /workspace\.transferred/);
    assert.equal((await scene.ask('owner', 'DELETE', `/me/workspaces/${second}`)).status, 204);
  });
});
