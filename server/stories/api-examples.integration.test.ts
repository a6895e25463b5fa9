/** The examples of docs/use/control-api.md, run as a reader would run them, against every role and both engines. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, suite, test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { startNatsCluster } from '@millrace/engines';
import { startMigratedPostgres } from '../testing/migrated-postgres.ts';
import { readConfig } from '../src/config.ts';
import { openLog } from '../src/log.ts';
import { type Running, startRoles } from '../src/start-roles.ts';
import { until } from '../testing/until.ts';

const EXAMPLES_DIR = join(import.meta.dirname, '../../examples/api');
const TOKEN = 'a-bootstrap-token-of-more-than-32-characters';
/** Within a second, which the projection bench measures; the rest is for the stalls of a busy machine. */
const HEARD_WITHIN_MS = 10_000;

const stack = new AsyncDisposableStack();
let running: Running;

before(async () => {
  const nats = stack.use(await startNatsCluster({ nodes: 1 }));
  const postgres = stack.use(await startMigratedPostgres());
  const read = readConfig({
    MILLRACE_HOST: '127.0.0.1',
    MILLRACE_NATS_URL: nats.url,
    MILLRACE_COLLECT_PORT: '0',
    MILLRACE_CONTROL_PORT: '0',
    MILLRACE_DRAIN_MS: '0',
    MILLRACE_DATABASE_URL: postgres.serviceUrl,
    MILLRACE_MIGRATION_DATABASE_URL: postgres.url,
    MILLRACE_KEYS: `1:${Buffer.alloc(32, 1).toString('base64')}`,
    MILLRACE_BOOTSTRAP_TOKEN: TOKEN,
  });
  assert.ok(read.ok);
  running = stack.use(await startRoles(read.value, openLog({ level: 'fatal', pretty: false })));
});
after(() => stack.disposeAsync());

suite('the examples of the control API', () => {
  test('a source made with curl', async (t) => {
    const source = JSON.parse(await run('bash', 'create-source.sh')) as Source;
    assert.equal(source.name, 'Web shop');
    await hears(t, source.writeKeys[0]?.key, 200);
  });

  test('a token made with curl works and has its scopes', async () => {
    const { token, scopes } = JSON.parse(await run('bash', 'create-token.sh')) as { token: string; scopes: string[] };
    assert.deepEqual(scopes, ['sources:read', 'sources:write']);
    assert.equal((await ask('GET', '/sources', { token })).status, 200);
    assert.equal((await ask('GET', '/destinations', { token })).status, 403);
  });

  test('an audience previewed, created, renamed and deleted', async () => {
    const [previewed, created] = (await run(process.execPath, 'create-audience.js')).split('\n');
    assert.equal(previewed, '0 members, between 0 and 0');
    assert.match(created ?? '', /^aud_\w+ big_spenders_30_days preparing$/);
  });

  test('an invitation made with curl, and accepted', async () => {
    const { token, link } = JSON.parse(await run('bash', 'invite.sh')) as { token: string; link: string };
    assert.ok(link.endsWith(token));
    const me = JSON.parse(await run('bash', 'accept.sh', token)) as { user: { email: string } };
    assert.equal(me.user.email, 'ann@example.com');
  });

  test('a source with webhooks, whose key is accepted promptly', async (t) => {
    const key = (await run(process.execPath, 'set-up.js')).trim();
    await hears(t, key, 200);
  });

  test('the filters of a destination', async () => {
    const { items } = (await (await ask('GET', '/destinations')).json()) as { items: { id: string }[] };
    assert.equal(await run(process.execPath, 'filter-destination.js', items[0]?.id ?? ''), '2\n');
  });

  test('a destination that is tried before events go to it', async () => {
    const { items } = (await (await ask('GET', '/sources')).json()) as { items: { id: string }[] };
    const lines = await run(process.execPath, 'try-destination.js', items[0]?.id ?? '', 'https://hooks.invalid/in');
    assert.match(lines, /^ok {2}url The URL leads to hooks\.invalid on port 443, over TLS\.\nNO {2}dns /);
    assert.match(lines, /\d+ of \d+ events would be delivered\.\n/);
    assert.match(lines, /hooks\.invalid.* A delivery with this answer would be tried again in about 5 s/);
  });

  test('a check-up of a receiver that does not exist', async () => {
    const { items } = (await (await ask('GET', '/destinations')).json()) as { items: { id: string }[] };
    const lines = await run(process.execPath, 'check-up.js', items[0]?.id ?? '');
    assert.match(lines, /^danger right_signature .*No event arrives\./);
    assert.match(lines, /\nThe receiver must be changed before events go to it: one step found a danger\.\n$/);
  });

  test('all pages of a list', async () => {
    const lines = (await run(process.execPath, 'list-all.js')).trim().split('\n');
    assert.ok(lines.length >= 2 && lines.every((line) => line.startsWith('src_')));
  });

  test('the story of an event that nobody sent', async () => {
    const [verdict, sentence] = (await run(process.execPath, 'explain.js', 'm 1/2')).split('\n');
    assert.deepEqual([verdict, sentence], ['unknown', '  There is no record of this event.']);
  });

  test('the overview of a workspace', async () => {
    // Calls are counted some seconds after they came.
    await until(async () =>
      /^[\d.]+ calls a minute, \d+ deliveries wait\n/.test(await run(process.execPath, 'overview.js')),
    );
  });

  test('a search through stored events', async () => {
    const { items } = (await (await ask('GET', '/sources')).json()) as { items: Source[] };
    // One of them has heard a call of the test above, and the search finds it by its name in any case.
    const found = await Promise.all(items.map(({ id }) => run(process.execPath, 'search-events.js', id, 'U1')));
    assert.match(found.join(''), /^\S+Z track \S+$/m);
  });

  test('the feed of a source', async () => {
    const { items } = (await (await ask('GET', '/sources')).json()) as { items: Source[] };
    const from = new Date(Date.now() - 600_000).toISOString();
    const found = await Promise.all(items.map(({ id }) => run(process.execPath, 'follow-feed.js', id, from)));
    assert.match(found.join(''), /^\S+Z track \S+$/m);
  });

  test('a request that is sent twice and done once', async () => {
    assert.equal(await run(process.execPath, 'create-once.js'), 'true\n');
  });
});

suite('what the control API changes', () => {
  test('a revoked key answers 401 and a disabled source 403 promptly', async (t) => {
    const made = await ask('POST', '/sources', { body: { name: 'Short-lived' } });
    const source = (await made.json()) as Source;
    const [first] = source.writeKeys;
    const added = await ask('POST', `/sources/${source.id}/write-keys`, { body: {} });
    const second = (await added.json()) as { key: string };
    await hears(t, first?.key, 200);
    await hears(t, second.key, 200);
    assert.equal((await ask('DELETE', `/sources/${source.id}/write-keys/${first?.id}`)).status, 204);
    await hears(t, first?.key, 401);
    assert.equal((await ask('PATCH', `/sources/${source.id}`, { body: { enabled: false } })).status, 200);
    await hears(t, second.key, 403);
  });
});

type Source = { id: string; name: string; writeKeys: { id: string; key: string }[] };

const controlUrl = () => `http://127.0.0.1:${running.control?.port}`;

/** Calls until the answer is the one we wait for. */
async function hears(t: TestContext, writeKey: string | undefined, status: number): Promise<void> {
  const url = `http://127.0.0.1:${running.collectPort}/v1/track`;
  const headers = { Authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}` };
  let last = 0;
  const isHeard = async () => {
    const answer = await fetch(url, { method: 'POST', headers, body: '{"userId":"u1","event":"E"}' });
    last = answer.status;
    await answer.arrayBuffer();
    return last === status;
  };
  t.diagnostic(`${status} after ${await until(isHeard, HEARD_WITHIN_MS, () => `still ${last}`)} ms`);
}

function ask(method: string, path: string, { token = TOKEN, body }: { token?: string; body?: object } = {}) {
  return fetch(`${controlUrl()}/api/v1${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function run(command: string, file: string, ...args: string[]): Promise<string> {
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', MILLRACE_URL: controlUrl(), MILLRACE_TOKEN: TOKEN };
  const { stdout } = await promisify(execFile)(command, [join(EXAMPLES_DIR, file), ...args], { env });
  return stdout;
}
