import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Definition } from '@millrace/contract/control';
import {
  addToken,
  addWorkspace,
  startTestControl,
  type TestAnswer,
  type TestControl,
} from '../../../../testing/control.ts';
import { cursorOf } from '../../http/paging.ts';

let control: TestControl;
let workspaceId: string;
let token: string;
let sourceId: string;
let destinationId: string;
let made = 0;

before(async () => {
  control = await startTestControl();
  workspaceId = await addWorkspace(control.store);
  token = await addToken(control.store, workspaceId, { role: 'developer' });
  ({ sourceId, destinationId } = await addThings(token));
});
after(() => control[Symbol.asyncDispose]());

async function addThings(as: string) {
  const make = async (path: string, body: object) => {
    const answer = await control.ask('POST', `/api/v1${path}`, { token: as, body });
    assert.equal(answer.status, 201, answer.text);
    return String(answer.body['id']);
  };
  const source = await make('/sources', { name: 'Shop' });
  const settings = { targets: [{ url: 'https://example.com/hook' }], sharedSecret: 'a shared secret' };
  return {
    sourceId: source,
    destinationId: await make('/destinations', { sourceId: source, catalog: 'Webhooks', settings }),
  };
}

const ask = (method: string, path: string, body?: unknown) =>
  control.ask(method, `/api/v1${path}`, { token, ...(body === undefined ? {} : { body }) });
const BOUGHT = { event: 'Order Completed', window: '30d', atLeast: 3 };
const audience = (rest: object = {}) => ({ kind: 'audience', name: `Audience ${(made += 1)}`, when: BOUGHT, ...rest });

async function create(rest: object = {}): Promise<Definition> {
  const { status, body, text } = await ask('POST', '/definitions', audience(rest));
  assert.equal(status, 201, text);
  return body as Definition;
}

/** No compute process runs here. */
const goLive = (id: string) =>
  control.store.asSystem(async (tx) => {
    await tx.query(`UPDATE definitions SET state = 'live' WHERE id = $1`, [id]);
    await tx.query(
      `UPDATE definition_versions SET state = 'live' WHERE definition = (SELECT number FROM definitions WHERE id = $1)`,
      [id],
    );
  });

type Errors = { path: string; message: string }[];
const errorsOf = ({ body }: TestAnswer) => (body['errors'] ?? []) as Errors;
function refuses(answer: TestAnswer, status: number, said: RegExp): void {
  assert.equal(answer.status, status, answer.text);
  assert.match(errorsOf(answer).map(({ path, message }) => `${path} ${message}`).join('; '), said); // biome-ignore format: short
}

suite('a definition', () => {
  test('is shown as it was created, with the defaults, and is in the audit log without its condition', async () => {
    const when = { all: [BOUGHT, { trait: 'email', op: 'equals', value: 'ann@example.com' }] };
    const shown = await create({
      name: 'Big Spenders (30 days)',
      when,
      sources: [sourceId],
      destinations: [destinationId],
    });
    assert.match(shown.id, /^aud_/);
    assert.deepEqual(
      [shown.key, shown.state, shown.version, shown.size, shown.includeAnonymous, shown.settleSeconds, shown.when],
      ['big_spenders_30_days', 'preparing', 1, 0, false, 0, when],
    );
    assert.deepEqual(shown.missing, { sources: [], destinations: [] });
    const rows = await control.store.inWorkspace(workspaceId, (tx) =>
      tx.query<{ text: string }>(`SELECT details::text AS text FROM audit_log WHERE object_id = $1`, [shown.id]),
    );
    assert.equal(rows.length, 1);
    assert.doesNotMatch(rows[0]?.text ?? '', /ann@example/);
    const trait = await create({ kind: 'trait', when: undefined, compute: 'sum', event: 'X', field: 'properties.n' });
    assert.match(trait.id, /^trt_/);
    assert.deepEqual([trait.compute, trait.settleSeconds], ['sum', 60]);
  });

  test('keeps its key when it is renamed, and nobody gets the key after it', async () => {
    const first = await create({ name: 'Ｂig  Spenders!' });
    assert.equal(first.key, 'big_spenders');
    const renamed = await ask('PATCH', `/definitions/${first.id}`, { name: 'Whales' });
    assert.deepEqual([renamed.body['name'], renamed.body['key']], ['Whales', 'big_spenders']);
    refuses(await ask('POST', '/definitions', audience({ name: 'BIG_SPENDERS' })), 409, /"Whales" \(aud_\w+\) has/);
    await control.store.asSystem((tx) =>
      tx.query(`UPDATE definitions SET state = 'deleted' WHERE id = $1`, [first.id]),
    );
    refuses(await ask('POST', '/definitions', audience({ name: 'big-spenders' })), 409, /had: .* never used again/);
    assert.equal((await ask('GET', `/definitions/${first.id}`)).status, 404);
    await create({ name: 'Whales' });
  });

  test('with the same key is created once when two ask at the same time', async () => {
    const answers = await Promise.all(
      ['Race', 'race', 'RACE!', ' race '].map((name) => ask('POST', '/definitions', audience({ name }))),
    );
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [201, 409, 409, 409],
    );
  });

  test('has a new version when something else is computed, and none for its name or destinations', async () => {
    const { id } = await create();
    const change = (body: object) => ask('PATCH', `/definitions/${id}`, body);
    const renamed = await change({ name: `Renamed ${id}`, destinations: [destinationId] });
    assert.deepEqual([renamed.body['edit'], renamed.body['destinations']], [null, [destinationId]]);
    refuses(await change({ settleSeconds: 5 }), 409, /is being computed/);
    await goLive(id);
    assert.equal((await change({ when: BOUGHT })).body['edit'], null);
    const edited = await change({ when: { ...BOUGHT, atLeast: 4 } });
    assert.deepEqual(edited.body['edit'], { version: 2, state: 'preparing', progress: { done: 0, total: null } });
    assert.deepEqual([edited.body['version'], edited.body['when']], [1, BOUGHT]);
    refuses(await change({ sources: [sourceId] }), 409, /is being computed/);
    refuses(await change({ compute: 'count' }), 400, /^\/compute is not known here/);
    refuses(await change({ when: { not: { audience: id } } }), 400, /is this audience itself/);
  });

  test('loses an optional field with null', async () => {
    const { id } = await create({ kind: 'trait', when: undefined, compute: 'count', event: 'X', window: '7d' });
    await goLive(id);
    const { body } = await ask('PATCH', `/definitions/${id}`, { window: null, settleSeconds: 0 });
    assert.deepEqual((body['edit'] as { version: number }).version, 2);
    refuses(await ask('PATCH', `/definitions/${id}`, { compute: null }), 400, /compute/);
  });

  test('is deleted only when nobody asks for it, and only once', async () => {
    const inner = await create();
    const outer = await create({ when: { all: [{ audience: inner.id }, BOUGHT] } });
    refuses(await ask('PATCH', `/definitions/${inner.id}`, { when: { audience: outer.id } }), 400, /by way of others/);
    assert.equal((await ask('DELETE', `/definitions/${inner.id}`)).status, 400);
    refuses(
      await ask('DELETE', `/definitions/${inner.id}?members=exit`),
      409,
      new RegExp(`"${outer.name}" \\(${outer.id}\\)`),
    );
    const deleted = await ask('DELETE', `/definitions/${outer.id}?members=leave`);
    assert.deepEqual([deleted.status, deleted.body['state']], [202, 'deleting']);
    assert.equal((await ask('DELETE', `/definitions/${outer.id}?members=exit`)).status, 202);
    refuses(await ask('PATCH', `/definitions/${outer.id}`, { name: 'X' }), 409, /is being deleted/);
    refuses(await ask('POST', '/definitions', audience({ when: { audience: outer.id } })), 400, /is not an audience/);
    assert.equal((await ask('DELETE', `/definitions/${inner.id}?members=exit`)).status, 202);
  });

  test('goes on without a source or a destination that is deleted, says so, and can be changed', async () => {
    const gone = await addThings(token);
    const { id } = await create({ sources: [gone.sourceId], destinations: [gone.destinationId, destinationId] });
    assert.equal((await ask('DELETE', `/sources/${gone.sourceId}`)).status, 204);
    const { body } = await ask('GET', `/definitions/${id}`);
    assert.deepEqual(body['missing'], { sources: [gone.sourceId], destinations: [gone.destinationId] });
    assert.equal((await ask('PATCH', `/definitions/${id}`, { name: `Still ${id}` })).status, 200);
    refuses(
      await ask('POST', '/definitions', audience({ sources: [gone.sourceId] })),
      400,
      /^\/sources\/0 is not a source/,
    );
    const mended = await ask('PATCH', `/definitions/${id}`, { destinations: [destinationId] });
    assert.deepEqual((mended.body['missing'] as { destinations: string[] }).destinations, []);
  });

  test('is synced again when it is live, to one of its destinations or all', async () => {
    const { id } = await create({ destinations: [destinationId] });
    refuses(await ask('POST', `/definitions/${id}/resync`, {}), 409, /once it is live/);
    await goLive(id);
    refuses(
      await ask('POST', `/definitions/${id}/resync`, { destinationId: 'dst_x' }),
      400,
      /not one of its destinations/,
    );
    assert.equal((await ask('POST', `/definitions/${id}/resync`, { destinationId })).status, 202);
  });
});

suite('a list of definitions', () => {
  test('comes in pages, of one kind if asked', async () => {
    const first = await ask('GET', '/definitions?limit=2&kind=audience');
    assert.equal((first.body['items'] as Definition[]).length, 2);
    const next = await ask('GET', `/definitions?limit=2&kind=audience&cursor=${String(first.body['nextCursor'])}`);
    const ids = [first, next].flatMap(({ body }) => (body['items'] as Definition[]).map(({ id }) => id));
    assert.equal(new Set(ids).size, 4);
    const traits = await ask('GET', '/definitions?kind=trait');
    assert.ok((traits.body['items'] as Definition[]).every(({ kind }) => kind === 'trait'));
  });

  test('has 200 at most', async () => {
    const other = await addWorkspace(control.store);
    const owner = await addToken(control.store, other, { role: 'owner' });
    await control.store.asSystem((tx) =>
      tx.query(
        `INSERT INTO definitions (workspace_id, id, kind, key, name, changed_in)
          SELECT $1, 'aud_full' || n, 'audience', 'full_' || n, 'Full', 0 FROM generate_series(1, 200) n`,
        [other],
      ),
    );
    const answer = await control.ask('POST', '/api/v1/definitions', { token: owner, body: audience() });
    assert.deepEqual([answer.status, answer.body['code']], [409, 'too_many_definitions']);
  });
});

/** Bodies that a definition must not be, with the place that the answer has to name. */
const deep = (levels: number): object => (levels === 0 ? BOUGHT : { not: deep(levels - 1) });
const HOSTILE: readonly [what: string, body: unknown, path: RegExp][] = [
  ['a text', 'audience', /^ must be an object/],
  ['a list', [audience()], /^ must be an object/],
  ['no kind', { name: 'X', when: BOUGHT }, /^\/kind/],
  ['a condition of 20 levels', audience({ when: deep(20) }), /too deep/],
  ['a condition of 2,000 levels', audience({ when: deep(2_000) }), /deeper than 32 levels/],
  ['1,000 leaves', audience({ when: { any: Array.from({ length: 1_000 }, () => BOUGHT) } }), /1000 leaves/],
  ['a name of 10,000 characters', audience({ name: 'x'.repeat(10_000) }), /^\/name must have at most 200/],
  ['a name that grows to 3,600 characters', audience({ name: 'ﷺ'.repeat(200) }), /^\/name makes a key/],
  ['a name without a letter', audience({ name: '—🎉—' }), /^\/name needs a letter/],
  ['a name with NUL', audience({ name: 'a\u0000b' }), /U\+0000/],
  ['a value with NUL', audience({ when: { trait: 'a', op: 'equals', value: '\u0000' } }), /U\+0000/],
  ['half a character', audience({ when: { ...BOUGHT, event: '\ud800' } }), /surrogate/],
  ['a number as text', audience({ when: { ...BOUGHT, atLeast: '3' } }), /^\/when\/atLeast must be a number/],
  ['NaN as text', audience({ when: { ...BOUGHT, atLeast: 'NaN' } }), /^\/when\/atLeast must be a number/],
  ['10^308', audience({ when: { event: 'X', sum: 'properties.n', atLeast: 1e308 } }), /between -10\^15/],
  ['half an event', audience({ when: { event: 'X', atLeast: 0.5 } }), /whole number/],
  ['a window of a million days', audience({ when: { ...BOUGHT, window: '1000000d' } }), /^\/when\/window/],
  ['a window backwards', audience({ when: { ...BOUGHT, window: '-1d' } }), /^\/when\/window/],
  [
    'a leap day that is none',
    audience({ when: { event: 'X', atLeast: 1, between: { from: '2026-02-30', to: 'x' } } }),
    /between/,
  ],
  ['an unknown field', audience({ whne: BOUGHT }), /^\/whne is not known/],
  ['a kind of its own', audience({ id: 'aud_mine', key: 'mine' }), /^\/id is not known/],
  ['the audience __proto__', audience({ when: { audience: '__proto__' } }), /is not an audience/],
  ['the audience constructor', audience({ when: { audience: 'constructor' } }), /is not an audience/],
  ['a source twice', audience({ sources: ['a', 'a'] }), /^\/sources\/1 is there twice/],
  ['101 destinations', audience({ destinations: Array.from({ length: 101 }, (_, n) => `d${n}`) }), /^\/destinations/],
  [
    'a rule of another language',
    audience({ when: { ...BOUGHT, where: [{ field: '__proto__.x', op: 'matches', value: '.*' }] } }),
    /where/,
  ],
];

suite('a hostile request', () => {
  for (const [what, body, said] of HOSTILE) {
    test(`with ${what} is refused, to be stored and to be previewed`, async () => {
      refuses(await ask('POST', '/definitions', body), 400, said);
      const preview = await ask('POST', '/definitions/preview', { definition: body });
      assert.equal(preview.status, 400, preview.text);
    });
  }

  test('with __proto__ as a field changes no object', async () => {
    const text = `{"kind":"audience","name":"Proto","when":{"event":"X","atLeast":1,"__proto__":{"sum":"properties.x"}},"__proto__":{"admin":true}}`;
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const answer = await fetch(`${control.url}/api/v1/definitions`, { method: 'POST', headers, body: text });
    assert.equal(answer.status, 400);
    assert.equal(({} as Record<string, unknown>)['admin'], undefined);
  });

  test('sees, changes and names nothing of another workspace', async () => {
    const other = await addToken(control.store, await addWorkspace(control.store), { role: 'owner' });
    const { id } = await create({ destinations: [destinationId] });
    const as = (method: string, path: string, body?: object) =>
      control.ask(method, `/api/v1${path}`, { token: other, ...(body && { body }) });
    const strange = [
      await as('GET', `/definitions/${id}`),
      await as('PATCH', `/definitions/${id}`, { name: 'Mine' }),
      await as('DELETE', `/definitions/${id}?members=exit`),
      await as('POST', `/definitions/${id}/resync`, {}),
      ...(await Promise.all(['members', 'history', 'curve'].map((part) => as('GET', `/definitions/${id}/${part}`)))),
      await as('GET', `/profiles/u1/memberships/${id}/explain`),
    ];
    assert.deepEqual(strange.map(({ status }) => status), strange.map(() => 404)); // biome-ignore format: short
    for (const rest of [{ sources: [sourceId] }, { destinations: [destinationId] }, { when: { audience: id } }])
      assert.equal((await as('POST', '/definitions', audience(rest))).status, 400, JSON.stringify(rest));
    assert.deepEqual((await as('GET', '/definitions')).body['items'], []);
    // A preview may name anything; it looks at its own sources only.
    const preview = await as('POST', '/definitions/preview', { definition: audience({ sources: [sourceId] }) });
    assert.deepEqual([preview.status, preview.body['profiles']], [200, 0]);
  });

  test('with a cursor of another list, or none at all, is refused', async () => {
    const { id } = await create();
    const cursors = [
      'x',
      '',
      cursorOf(id),
      cursorOf('1; DROP TABLE profiles'),
      cursorOf('-1'),
      cursorOf('9'.repeat(30)),
    ];
    for (const part of ['members', 'history'])
      for (const cursor of cursors) {
        const answer = await ask('GET', `/definitions/${id}/${part}?cursor=${cursor}`);
        assert.deepEqual([answer.status, answer.body['code']], [400, 'invalid_cursor'], `${part} ${cursor}`);
      }
    assert.equal((await ask('GET', `/definitions/${id}/history?cursor=${cursorOf('f'.repeat(32))}`)).status, 400);
    assert.equal((await ask('GET', `/definitions/${id}/curve?range=100y`)).status, 400);
  });

  test('for people is refused to a token that reads sizes only', async () => {
    const narrow = await addToken(control.store, workspaceId, { role: 'owner', scopes: ['audiences:read'] });
    const { id } = await create();
    const as = (method: string, path: string) => control.ask(method, `/api/v1${path}`, { token: narrow });
    assert.equal((await as('GET', `/definitions/${id}/curve`)).status, 200);
    for (const path of [`/definitions/${id}/members`, `/definitions/${id}/history`, '/profiles/u1'])
      assert.equal((await as('GET', path)).status, 403, path);
    const previewAs = (token: string) =>
      control.ask('POST', '/api/v1/definitions/preview', { token, body: { definition: audience() } });
    assert.equal((await previewAs(narrow)).status, 403, 'any condition could be asked about');
    const scopes = ['audiences:read', 'payloads:read'];
    const preview = await previewAs(await addToken(control.store, workspaceId, { role: 'owner', scopes }));
    assert.deepEqual([preview.status, preview.body['samples']], [200, undefined]);
  });
});
