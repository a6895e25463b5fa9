import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { checkAudit, INSTALLATION } from '../../../store/audit-log.ts';
import { hashOfSecret } from '../../access/secret-text.ts';
import { addMember, addToken, addWorkspace, startTestControl, type TestControl } from '../../../../testing/control.ts';

let control: TestControl;
let first: string;
let owner: string;
let made = 0;

before(async () => {
  control = await startTestControl();
  first = await addWorkspace(control.store, 'First');
  owner = await addToken(control.store, first, { role: 'owner' });
});
after(() => control[Symbol.asyncDispose]());

const addPerson = (workspaceId: string, role: 'owner' | 'viewer' = 'viewer') =>
  addMember(control.store, workspaceId, { email: `p${(made += 1)}@example.com`, passwordHash: null, role });

async function idOf(secret: string): Promise<string> {
  const sql = 'SELECT id FROM tokens WHERE secret_hash = $1';
  const [row] = await control.store.asSystem((tx) => tx.query<{ id: string }>(sql, [hashOfSecret(secret)]));
  return row?.id ?? '';
}

type Listed = { items: { id: string; kind: string; addedBy: string }[]; areFirstOwners: boolean };
const list = async (token = owner) => (await control.ask('GET', '/api/v1/operators', { token })).body as Listed;
const add = (id: string, token = owner) => control.ask('POST', '/api/v1/operators', { token, body: { id } });
const remove = (id: string, token = owner) => control.ask('DELETE', `/api/v1/operators/${id}`, { token });
const statusOf = async (token: string, path = '/api/v1/system') => (await control.ask('GET', path, { token })).status;

suite('operators', () => {
  test('are the owners of the first workspace, until a person is added', async () => {
    assert.deepEqual([(await list()).areFirstOwners, (await list()).items.map(({ id }) => id)], [true, [await idOf(owner)]]); // biome-ignore format: short
    const later = await addWorkspace(control.store, 'Later');
    assert.equal(await statusOf(await addToken(control.store, later, { role: 'owner' })), 403);
    assert.equal((await remove(await idOf(owner))).body['code'], 'last_operator');
  });

  test('that add the first person stay operators themselves, and other owners of the first workspace do not', async () => {
    const other = await addToken(control.store, first, { role: 'owner' });
    assert.equal(await statusOf(other), 200);
    const ann = await addPerson(first);
    assert.equal((await add(ann)).status, 201);
    const { items, areFirstOwners } = await list();
    assert.equal(areFirstOwners, false);
    assert.deepEqual(new Set(items.map(({ id }) => id)), new Set([ann, await idOf(owner)]));
    assert.deepEqual([await statusOf(owner), await statusOf(other)], [200, 403]);
  });

  test('need no role in a workspace, and a narrowed token needs the scope', async () => {
    for (const [scopes, status] of [
      [['system:read'], 200],
      [['sources:read'], 403],
    ] as const) {
      const token = await addToken(control.store, first, { role: 'viewer-without-payloads', scopes: [...scopes] });
      assert.equal((await add(await idOf(token))).status, 201);
      assert.equal(await statusOf(token), status);
      assert.equal(await statusOf(token, '/api/v1/operators'), 403);
    }
  });

  test('are made by no narrowed token, and are no accounts that a provider made', async () => {
    const scopes = ['operators:read', 'operators:write'];
    const narrowed = await addToken(control.store, first, { role: 'owner', scopes });
    assert.equal((await add(await idOf(narrowed))).status, 201);
    assert.equal((await add(await addPerson(first), narrowed)).status, 403);
    const managed = await addPerson(first, 'owner');
    await control.store.asSystem((tx) => tx.query('UPDATE users SET belongs_to = $2 WHERE id = $1', [managed, first]));
    assert.equal((await add(managed)).status, 403);
  });

  test('see of a quarantined message of others neither its bytes nor its headers, which name an address', async () => {
    await using side = await control.stream.deliverySide();
    const from = { stream: 'EVENTS-0', subject: 'events.0.src_others', sequence: 1 };
    const headers = [['Millrace-Request', '{"address":"192.0.2.9"}']] as const;
    await side.quarantine.append({ kind: 'request', payload: Buffer.from('?'), from, why: 'unreadable', headers });
    const [entry] = await control.needs.side.quarantine.read('request', 1, 1);
    const shown = await control.ask('GET', `/api/v1/quarantine/q_${entry?.sequence}`, { token: owner });
    assert.deepEqual([shown.status, shown.body['payloadBase64'], shown.body['headers']], [200, null, {}]);
  });

  test('are people and tokens of the workspace that the operator is in: strangers are not found', async () => {
    const elsewhere = await addWorkspace(control.store);
    assert.equal((await add(await addPerson(elsewhere))).status, 404);
    assert.equal((await add('usr_none')).status, 404);
    assert.equal((await add(await idOf(await addToken(control.store, elsewhere, { role: 'owner' })))).status, 404);
  });

  test('are removed with the tokens that they made, and the last person stays', async () => {
    const [ann] = (await list()).items.filter(({ kind }) => kind === 'user');
    const bob = await addPerson(first, 'owner');
    assert.equal((await add(bob)).status, 201);
    const token = await addToken(control.store, first, { role: 'owner' });
    const tokenId = await idOf(token);
    await control.store.asSystem((tx) => tx.query('UPDATE tokens SET created_by = $2 WHERE id = $1', [tokenId, bob]));
    assert.equal((await add(tokenId)).status, 201);
    assert.equal((await remove(bob)).status, 204);
    assert.equal(await statusOf(token), 403);
    const last = await remove(ann?.id ?? '');
    assert.deepEqual([last.status, last.body['code']], [409, 'last_operator']);
  });

  test('cannot remove each other at the same moment', async () => {
    const people = await Promise.all([addPerson(first), addPerson(first)]);
    for (const id of people) await add(id);
    const everyone = (await list()).items.filter(({ kind }) => kind === 'user').map(({ id }) => id);
    const answers = await Promise.all(everyone.map((id) => remove(id)));
    const refused = answers.filter(({ status }) => status === 409);
    assert.deepEqual([refused.length, answers.length], [1, everyone.length]);
    assert.equal((await list()).items.filter(({ kind }) => kind === 'user').length, 1);
  });

  test('leave entries in the log of the installation, which no workspace shows and whose chain holds', async () => {
    const { text } = await control.ask('GET', '/api/v1/installation/audit-log?limit=100', { token: owner });
    assert.match(text, /operator\.added/);
    assert.match(text, /operator\.removed/);
    assert.doesNotMatch((await control.ask('GET', '/api/v1/audit-log', { token: owner })).text, /operator\./);
    const checked = await control.store.inWorkspace(INSTALLATION, (tx) => checkAudit(tx, INSTALLATION, {}));
    assert.equal(checked.kind, 'holds');
  });

  test('see every workspace by its numbers, page by page', async () => {
    const token = await addToken(control.store, await addWorkspace(control.store, 'Shop'), { role: 'owner' });
    await control.ask('POST', '/api/v1/sources', { token, body: { name: 'A secret source' } });
    type Item = { name: string; sources: number; members: number };
    const names: Item[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const more: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const path = `/api/v1/installation/workspaces?limit=2${more}`;
      const { body, text } = await control.ask('GET', path, { token: owner });
      assert.doesNotMatch(text, /A secret source/);
      names.push(...(body['items'] as Item[]));
      cursor = body['nextCursor'] as string | null;
    }
    assert.deepEqual(names.find(({ name }) => name === 'Shop')?.sources, 1);
    assert.ok(names.some(({ name, members }) => name === 'First' && members > 0));
    assert.equal(await statusOf(token, '/api/v1/installation/workspaces'), 403);
  });

  test('keep their account without a workspace', async () => {
    const workspaceId = await addWorkspace(control.store);
    const admin = await addToken(control.store, workspaceId, { role: 'owner' });
    const id = await addPerson(workspaceId);
    await control.store.asSystem((tx) => tx.query(`INSERT INTO operators VALUES ($1, 'user', 'test')`, [id]));
    await control.ask('DELETE', `/api/v1/members/${id}`, { token: admin });
    await control.store.asSystem((tx) => tx.query(`UPDATE users SET memberless_since = now() - interval '2 days'`));
    const { removeMemberless } = await import('../../../store/users.ts');
    assert.ok(!(await control.store.asSystem(removeMemberless)).includes(id));
  });
});
