import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { addToken, addWorkspace, startTestControl, type TestControl } from '../../testing/control.ts';

let control: TestControl;
let owner: string;

before(async () => {
  control = await startTestControl();
  owner = await addToken(control.store, await addWorkspace(control.store), { role: 'owner' });
});
after(async () => control[Symbol.asyncDispose]());

suite('the control API', () => {
  test('answers problems as problem+json with a code and a request id', async () => {
    for (const path of ['/nothing', '/api/v1/nothing', '/api/v1/sources/src_none', '/api/v1/sources/%00', '/%zz']) {
      const { status, headers, body } = await control.ask('GET', path, { token: owner });
      assert.equal(status, path === '/%zz' ? 400 : 404, path);
      assert.match(headers.get('content-type') ?? '', /^application\/problem\+json/);
      assert.equal(body['requestId'], headers.get('x-request-id'));
      assert.equal(body['status'], status);
    }
  });

  test('says which field is wrong and why', async () => {
    const bad = await control.ask('POST', '/api/v1/sources', { token: owner, body: { name: '', colour: 'red' } });
    assert.equal(bad.status, 400);
    const paths = (bad.body['errors'] as { path: string }[]).map((error) => error.path);
    assert.deepEqual(new Set(paths), new Set(['/name', '/colour']));
    const query = await control.ask('GET', '/api/v1/sources?limit=1000', { token: owner });
    assert.deepEqual([query.status, query.body['code']], [400, 'invalid_request']);
    const cursor = await control.ask('GET', '/api/v1/audit-log?cursor=bm8', { token: owner });
    assert.deepEqual([cursor.status, cursor.body['code']], [400, 'invalid_cursor']);
  });

  test('refuses bodies that are too large, not JSON, too deep or not storable', async () => {
    const post = async (body: string, type = 'application/json') => {
      const headers = { Authorization: `Bearer ${owner}`, 'Content-Type': type };
      const answer = await fetch(`${control.url}/api/v1/sources`, { method: 'POST', headers, body });
      return `${answer.status} ${((await answer.json()) as { code: string }).code}`;
    };
    assert.equal(await post(JSON.stringify({ name: 'x'.repeat(300_000) })), '413 body_too_large');
    assert.equal(await post('{"name":"a"}', 'text/plain'), '415 not_json');
    assert.equal(await post('{"name":'), '400 invalid_request');
    assert.equal(await post(''), '400 invalid_request');
    assert.equal(await post(`${'['.repeat(40)}${']'.repeat(40)}`), '400 invalid_request');
    assert.equal(await post('{"name":"a\\u0000b"}'), '400 invalid_request');
    assert.equal(await post('{"name":"a\\ud800"}'), '400 invalid_request');
    assert.equal(await post('{"__proto__":{"name":"a"}}'), '400 invalid_request');
  });

  test('sends the headers that keep browsers safe, and none that let other sites in', async () => {
    const { headers } = await control.ask('GET', '/api/v1/workspace', {
      token: owner,
      headers: { Origin: 'https://evil.example' },
    });
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/);
    assert.equal(headers.get('access-control-allow-origin'), null);
  });

  test('announces a change after it is committed, and no reading', async () => {
    const before = control.changes();
    await control.ask('GET', '/api/v1/sources', { token: owner });
    assert.equal(control.changes(), before);
    await control.ask('POST', '/api/v1/sources', { token: owner, body: { name: 'One' } });
    assert.equal(control.changes(), before + 1);
  });

  test('pages through a list without losing or repeating anything', async () => {
    for (let i = 0; i < 5; i += 1)
      await control.ask('POST', '/api/v1/sources', { token: owner, body: { name: `S${i}` } });
    const all = await control.ask('GET', '/api/v1/sources', { token: owner });
    const ids: unknown[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { body } = await control.ask('GET', `/api/v1/sources?limit=2${query}`, { token: owner });
      ids.push(...(body['items'] as { id: string }[]).map((item) => item.id));
      cursor = body['nextCursor'] as string | null;
    }
    assert.deepEqual(
      ids,
      (all.body['items'] as { id: string }[]).map((item) => item.id),
    );
  });

  test('turns ambiguous requests away', async () => {
    const { port } = new URL(control.url);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n');
    const text = (await socket.toArray()).join('');
    assert.match(text, /^HTTP\/1.1 400 /);
  });

  test('answers 503 with a reason while the database is away, and works when it is back', async () => {
    const ask = (path: string) => control.ask('GET', path, { token: owner });
    assert.equal((await ask('/readyz')).status, 200);
    control.postgres.stop('immediate');
    for (const path of ['/readyz', '/api/v1/sources', '/api/v1/me']) {
      const { status, body } = await ask(path);
      assert.deepEqual([status, body['code']], [503, 'database_unavailable'], path);
    }
    assert.equal((await ask('/healthz')).status, 200);
    control.postgres.start();
    assert.equal((await ask('/api/v1/sources')).status, 200);
    assert.equal((await ask('/readyz')).status, 200);
  });
});
