/** How much configuration a workspace may have, as the API tells it. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Destination, Source } from '@millrace/contract/control';
import { addToken, addWorkspace, startTestControl, type TestControl } from '../../../testing/control.ts';
import { projectChanges } from '../../projection/project-changes.ts';

const BIG_URL = `https://hooks.example/${'x'.repeat(1_900)}`;
const LONG = 'é'.repeat(1_000);
let control: TestControl;

before(async () => {
  // A bucket of 1 MB.
  control = await startTestControl({ maxFileStoreMb: 17 });
});
after(() => control[Symbol.asyncDispose]());

suite('the API', () => {
  test('refuses more blocked events than the entry of a source can hold, and revokes its keys all the same', async () => {
    const { ask, source } = await newWorkspace();
    let last = 204;
    let count = 0;
    for (; last === 204 && count < 300; count += 1) {
      const body = { name: `${count} ${LONG}`.slice(0, 1_000), blocked: true };
      const answer = await ask('POST', `/sources/${source.id}/events`, body);
      last = answer.status;
      if (last === 204) continue;
      assert.equal(answer.body['code'], 'configuration_too_large');
      assert.match(answer.text, /the source would have \d+ bytes of keys and blocked events, and may have 131072/);
    }
    assert.equal(last, 409, 'long before NATS says no');
    assert.ok(count > 50, `${count}`);
    await project();
    assert.deepEqual(await projectionOf(ask, source.id), { state: 'applied', since: null, why: null });
    const [key] = source.writeKeys;
    assert.equal((await ask('DELETE', `/sources/${source.id}/write-keys/${key?.id}`)).status, 204);
    assert.equal((await ask('PATCH', `/sources/${source.id}`, { enabled: false })).status, 200);
  });

  test('refuses a destination whose entry is too large', async () => {
    const { ask, source } = await newWorkspace();
    const values = Array.from({ length: 100 }, (_, i) => `${i}`.padEnd(900, 'y'));
    const filters = [1, 2].map(() => ({ field: 'event', op: 'one_of', values }));
    const made = await ask('POST', '/destinations', { ...webhooks(source), filters });
    assert.equal(made.status, 409, made.text);
    assert.match(made.text, /the destination would have \d+ bytes of URLs, headers and filters, and may have 131072/);
    const small = await ask('POST', '/destinations', webhooks(source));
    assert.equal(small.status, 201);
    assert.equal((await ask('PATCH', `/destinations/${String(small.body['id'])}`, { filters })).status, 409);
  });

  test('leaves room for the next workspace, however much one has', async () => {
    const greedy = await newWorkspace();
    const other = await newWorkspace();
    let refused: string | undefined;
    const made: string[] = [];
    while (refused === undefined && made.length < 500) {
      const answer = await greedy.ask('POST', '/destinations', { ...webhooks(greedy.source), filters: largeFilters() });
      if (answer.status === 201) made.push(String(answer.body['id']));
      else refused = answer.text;
    }
    assert.match(String(refused), /the workspace would have \d+ bytes of configuration, and may have \d+ now/);
    const more = { filters: [...largeFilters(), ...largeFilters()] };
    const grown = await greedy.ask('PATCH', `/destinations/${made[0]}`, more);
    assert.equal(grown.status, 409, 'it may not grow');
    for (const change of [{ enabled: false }, { paused: true }, { filters: [] }]) {
      assert.equal((await greedy.ask('PATCH', `/destinations/${made[0]}`, change)).status, 200, 'it may shrink');
    }
    assert.equal((await other.ask('POST', '/destinations', webhooks(other.source))).status, 201);
    const erased = await greedy.ask('POST', '/deletion-requests', { userIds: ['u1'] });
    assert.equal(erased.status, 201, `a user is erased however much there is: ${erased.text}`);
    await project();
    const { items } = (await other.ask('GET', '/destinations')).body as { items: Destination[] };
    assert.deepEqual(
      items.map(({ projection }) => projection.state),
      ['applied'],
    );
    assert.equal((await greedy.ask('DELETE', `/destinations/${made[1]}`)).status, 204);
  });

  test('says of a change whether it waits, has taken effect or finds no room', async () => {
    const { ask, source, workspaceId } = await newWorkspace();
    assert.equal(source.projection.state, 'pending');
    await project();
    assert.equal((await projectionOf(ask, source.id)).state, 'applied');
    // Older versions had no limit but the database's.
    const sql = `INSERT INTO source_events (workspace_id, source_id, name, blocked)
      SELECT $1, $2, lpad(n::text, 1300, 'é'), true FROM generate_series(1, 500) n`;
    await control.store.inWorkspace(workspaceId, (tx) => tx.query(sql, [workspaceId, source.id]));
    assert.equal((await ask('PATCH', `/sources/${source.id}`, { rateLimitPerSecond: 10 })).status, 200);
    await project();
    const failed = await projectionOf(ask, source.id);
    assert.equal(failed.state, 'failed');
    assert.match(String(failed.why), /its entry has \d+ bytes/);
    assert.ok(Date.parse(String(failed.since)) <= Date.now());
    const { items } = (await ask('GET', '/sources')).body as { items: Source[] };
    assert.deepEqual(items[0]?.projection, failed);
    await control.store.inWorkspace(workspaceId, (tx) => tx.query('DELETE FROM source_events WHERE blocked'));
    const changed = await ask('PATCH', `/sources/${source.id}`, { rateLimitPerSecond: null });
    assert.equal((changed.body as unknown as Source).projection.state, 'pending');
    await project();
    assert.equal((await projectionOf(ask, source.id)).state, 'applied');
  });
});

type Ask = (method: string, path: string, body?: unknown) => ReturnType<TestControl['ask']>;

async function newWorkspace() {
  const workspaceId = await addWorkspace(control.store);
  const token = await addToken(control.store, workspaceId, { role: 'owner' });
  const ask: Ask = (method, path, body) =>
    control.ask(method, `/api/v1${path}`, body === undefined ? { token } : { token, body });
  const made = await ask('POST', '/sources', { name: 'S' });
  assert.equal(made.status, 201, made.text);
  return { workspaceId, ask, source: made.body as unknown as Source };
}

async function projectionOf(ask: Ask, sourceId: string): Promise<Source['projection']> {
  return ((await ask('GET', `/sources/${sourceId}`)).body as unknown as Source).projection;
}

async function project(): Promise<void> {
  const configWriter = await control.stream.configWriter();
  while ((await projectChanges({ store: control.store, configWriter, log: control.needs.log })) !== 'done');
}

function webhooks(source: Source) {
  return { sourceId: source.id, catalog: 'Webhooks', settings: { targets: [{ url: BIG_URL }] } };
}

function largeFilters() {
  const values = Array.from({ length: 100 }, (_, i) => `${i}`.padEnd(500, 'z'));
  return [{ field: 'event', op: 'one_of', values }];
}
