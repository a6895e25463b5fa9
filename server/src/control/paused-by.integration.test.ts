import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Destination } from '@millrace/contract/control';
import { addMember, addToken, addWorkspace, startTestControl, type TestControl } from '../../testing/control.ts';

let control: TestControl;
before(async () => void (control = await startTestControl()));
after(() => control[Symbol.asyncDispose]());

const SETTINGS = { targets: [{ url: 'https://example.com/hook' }], sharedSecret: 'a shared secret' };

async function openScene() {
  const workspaceId = await addWorkspace(control.store);
  const [owner, developer, admin] = [
    await addToken(control.store, workspaceId, { role: 'owner' }),
    await addToken(control.store, workspaceId, { role: 'developer' }),
    await addToken(control.store, workspaceId, { role: 'admin' }),
  ];
  const ask = async (token: string, method: string, path: string, body?: object): Promise<Destination> => {
    const answer = await control.ask(method, `/api/v1${path}`, { token, ...(body === undefined ? {} : { body }) });
    assert.ok(answer.status < 300, answer.text);
    return answer.body as Destination;
  };
  const { id: sourceId } = await ask(owner, 'POST', '/sources', { name: 'S' });
  const { id } = await ask(owner, 'POST', '/destinations', { sourceId, catalog: 'Webhooks', settings: SETTINGS });
  return { workspaceId, owner, developer, admin, id, ask };
}

suite('a paused destination', () => {
  test('tells since when, and tells readers of the audit log who did it', async () => {
    const { owner, developer, admin, id, ask } = await openScene();
    const path = `/destinations/${id}`;
    const running = await ask(owner, 'GET', path);
    assert.deepEqual([running.paused, running.pausedAt, running.pausedBy], [false, null, undefined]);
    await ask(developer, 'PATCH', path, { paused: true });
    const paused = await ask(admin, 'GET', path);
    assert.equal(paused.pausedBy?.kind, 'token');
    assert.match(paused.pausedBy?.id ?? '', /^tok_/);
    assert.equal(typeof paused.pausedBy?.name, 'string');
    assert.ok(!Number.isNaN(Date.parse(paused.pausedAt ?? '')));
    const forDeveloper = await ask(developer, 'GET', path);
    assert.equal(forDeveloper.pausedAt, paused.pausedAt);
    assert.equal(Object.hasOwn(forDeveloper, 'pausedBy'), false, 'only readers of the audit log');
    // Another change, and a second pause, leave the first one as it is.
    const changed = await ask(owner, 'PATCH', path, { paused: true, name: 'Other' });
    assert.deepEqual([changed.pausedAt, changed.pausedBy], [paused.pausedAt, paused.pausedBy]);
    const resumed = await ask(owner, 'PATCH', path, { paused: false });
    assert.deepEqual([resumed.pausedAt, resumed.pausedBy], [null, undefined]);
  });

  test('names a member, and of one who left only the id', async () => {
    const { workspaceId, owner, id, ask } = await openScene();
    const path = `/destinations/${id}`;
    const email = 'pauser@example.com';
    const userId = await addMember(control.store, workspaceId, { email, passwordHash: null, role: 'admin' });
    const { pausedAt } = await ask(owner, 'PATCH', path, { paused: true });
    const by = { kind: 'user', id: userId, at: pausedAt };
    await control.store.asSystem((tx) => tx.query('UPDATE destinations SET paused_by = $2 WHERE id = $1', [id, by]));
    assert.deepEqual((await ask(owner, 'GET', path)).pausedBy, { kind: 'user', id: userId, name: email, email });
    await ask(owner, 'DELETE', `/members/${userId}`);
    const left = { kind: 'user', id: userId, name: null, email: null };
    assert.deepEqual((await ask(owner, 'GET', path)).pausedBy, left);
  });

  test('that an older version paused has no name, and not that of the pause before', async () => {
    const { owner, id, ask } = await openScene();
    const path = `/destinations/${id}`;
    await ask(owner, 'PATCH', path, { paused: true });
    const later = `UPDATE destinations SET paused_at = paused_at + interval '1 second' WHERE id = $1`;
    await control.store.asSystem((tx) => tx.query(later, [id]));
    const { paused, pausedBy } = await ask(owner, 'GET', path);
    assert.deepEqual([paused, pausedBy], [true, null]);
  });
});
