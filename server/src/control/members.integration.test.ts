import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { addMember, addToken, addWorkspace, startTestControl, type TestControl } from './control-for-tests.ts';

let control: TestControl;
before(async () => {
  control = await startTestControl();
});
after(async () => control[Symbol.asyncDispose]());

async function openScene() {
  const workspaceId = await addWorkspace(control.store);
  const owner = await addToken(control.store, workspaceId, { role: 'owner' });
  const admin = await addToken(control.store, workspaceId, { role: 'admin' });
  return { workspaceId, owner, admin };
}

let people = 0;
const newPerson = (role: 'owner' | 'admin' | 'viewer') => {
  people += 1;
  return { email: `person${people}@example.com`, passwordHash: null, role };
};

suite('members', () => {
  test('are added with a first password, once', async () => {
    const { owner } = await openScene();
    const body = { email: 'dee@example.com', name: 'Dee', role: 'developer', password: 'a long password' };
    const { password: _, ...without } = body;
    const add = (asked: object) => control.ask('POST', '/api/v1/members', { token: owner, body: asked });
    const refused = await add(without);
    assert.deepEqual([refused.status, (refused.body['errors'] as { path: string }[])[0]?.path], [400, '/password']);
    const added = await add(body);
    assert.deepEqual([added.status, added.body['role']], [201, 'developer']);
    assert.equal(added.text.includes('password'), false);
    assert.equal((await add(body)).status, 409);
    const signedIn = await control.ask('POST', '/api/v1/session', {
      body: { email: 'dee@example.com', password: 'a long password' },
    });
    assert.equal(signedIn.status, 204);
  });

  test('who are here already keep the password that only they know', async () => {
    const { owner } = await openScene();
    const body = { email: 'dee@example.com', name: 'Not Dee', role: 'viewer', password: 'somebody elses words' };
    assert.equal((await control.ask('POST', '/api/v1/members', { token: owner, body })).status, 201);
    const signIn = { email: 'dee@example.com', password: 'somebody elses words' };
    assert.equal((await control.ask('POST', '/api/v1/session', { body: signIn })).status, 401);
  });

  test('cannot be made, changed or removed above the own role', async () => {
    const { workspaceId, admin } = await openScene();
    const ownerId = await addMember(control.store, workspaceId, newPerson('owner'));
    await addMember(control.store, workspaceId, newPerson('owner'));
    const viewerId = await addMember(control.store, workspaceId, newPerson('viewer'));
    const ask = async (method: string, path: string, body?: object) =>
      (await control.ask(method, `/api/v1/members${path}`, { token: admin, body })).status;
    const body = { email: 'o@example.com', name: 'O', role: 'owner', password: 'a long password' };
    assert.equal(await ask('POST', '', body), 403);
    assert.equal(await ask('PATCH', `/${viewerId}`, { role: 'owner' }), 403);
    assert.equal(await ask('PATCH', `/${ownerId}`, { role: 'viewer' }), 403);
    assert.equal(await ask('DELETE', `/${ownerId}`), 403);
    assert.equal(await ask('PATCH', `/${viewerId}`, { role: 'admin' }), 200);
    assert.equal(await ask('DELETE', `/${viewerId}`), 204);
    assert.equal(await ask('DELETE', `/${viewerId}`), 404);
  });

  test('always leave an owner, even when two owners go at the same moment', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { workspaceId, owner } = await openScene();
      const ids = [
        await addMember(control.store, workspaceId, newPerson('owner')),
        await addMember(control.store, workspaceId, newPerson('owner')),
      ];
      const answers = await Promise.all([
        control.ask('DELETE', `/api/v1/members/${ids[0]}`, { token: owner }),
        control.ask('PATCH', `/api/v1/members/${ids[1]}`, { token: owner, body: { role: 'viewer' } }),
      ]);
      const refused = answers.filter((answer) => answer.status === 409);
      assert.deepEqual(
        refused.map((answer) => answer.body['code']),
        ['last_owner'],
        `round ${round}: ${answers.map((answer) => answer.status).join()}`,
      );
    }
  });
});
