import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { addToken, addWorkspace, startTestControl, type TestControl } from '../../../testing/control.ts';

let control: TestControl;
let workspaceId: string;
let owner: string;

before(async () => {
  control = await startTestControl();
  workspaceId = await addWorkspace(control.store);
  owner = await addToken(control.store, workspaceId, { role: 'owner' });
});
after(async () => control[Symbol.asyncDispose]());

const post = (key: string, body: object, { path = '/api/v1/sources', token = owner } = {}) =>
  control.ask('POST', path, { token, body, headers: { 'Idempotency-Key': key } });

async function countSources(): Promise<number> {
  const rows = await control.store.inWorkspace(workspaceId, (tx) => tx.query('SELECT id FROM sources'));
  return rows.length;
}

suite('an Idempotency-Key', () => {
  test('gives the same answer again and does the work once', async () => {
    const before = await countSources();
    const first = await post('key-1', { name: 'One' });
    const again = await post('key-1', { name: 'One' });
    assert.equal(first.status, 201);
    assert.deepEqual([again.status, again.text], [first.status, first.text]);
    assert.deepEqual(
      [first.headers.get('idempotent-replayed'), again.headers.get('idempotent-replayed')],
      [null, 'true'],
    );
    assert.equal(await countSources(), before + 1);
  });

  test('does the work once even when the same request comes ten times at the same moment', async () => {
    const before = await countSources();
    const answers = await Promise.all(Array.from({ length: 10 }, () => post('key-2', { name: 'Two' })));
    assert.deepEqual(new Set(answers.map((answer) => answer.text)).size, 1);
    assert.ok(answers.every((answer) => answer.status === 201));
    assert.equal(await countSources(), before + 1);
  });

  test('is refused for another request', async () => {
    await post('key-3', { name: 'Three' });
    for (const answer of [
      await post('key-3', { name: 'Four' }),
      await post('key-3', { name: 'Three', role: 'viewer' }, { path: '/api/v1/tokens' }),
    ]) {
      assert.deepEqual([answer.status, answer.body['code']], [422, 'idempotency_key_reused']);
    }
  });

  test('of a request that failed is free again', async () => {
    const missing = '/api/v1/sources/src_none/write-keys';
    assert.equal((await post('key-4', {}, { path: missing })).status, 404);
    assert.equal((await post('key-4', { name: 'Four' })).status, 201);
  });

  test('is its own for each token: nobody gets the answer of somebody else', async () => {
    const other = await addToken(control.store, workspaceId, { role: 'owner' });
    const [mine, theirs] = [
      await post('key-5', { name: 'Five' }),
      await post('key-5', { name: 'Five' }, { token: other }),
    ];
    assert.notEqual(mine.body['id'], theirs.body['id']);
  });

  test('keeps a secret that is shown once sealed', async () => {
    const made = await post('key-6', { name: 'CI', role: 'viewer' }, { path: '/api/v1/tokens' });
    const again = await post('key-6', { name: 'CI', role: 'viewer' }, { path: '/api/v1/tokens' });
    assert.equal(again.body['token'], made.body['token']);
    const secret = Buffer.from(made.body['token'] as string);
    const rows = await control.store.inWorkspace(workspaceId, (tx) =>
      tx.query<{ answer_sealed: Buffer }>('SELECT answer_sealed FROM idempotency_keys'),
    );
    assert.ok(rows.length > 0 && rows.every((row) => !row.answer_sealed.includes(secret)));
  });

  test('has to be short and visible', async () => {
    assert.equal((await post('x'.repeat(201), { name: 'Six' })).status, 400);
    assert.equal((await post('a b', { name: 'Six' })).status, 400);
  });
});
