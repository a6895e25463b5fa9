/** The installation as its operator sees it, with every role and both engines. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { System } from '@millrace/contract/control';
import { addToken, addWorkspace } from '../testing/control.ts';
import { answer, openReceiver } from '../testing/receiver.ts';
import { tracks } from '../testing/samples.ts';
import { addScene, openStack, type Stack } from '../testing/stack.ts';
import { until } from '../testing/until.ts';

const KEY = Buffer.alloc(32, 9).toString('base64');
const TOKEN = 'a-bootstrap-token-of-more-than-32-characters';

const opened = new AsyncDisposableStack();
let stack: Stack;
before(async () => {
  stack = opened.use(await openStack({ MILLRACE_KEYS: `1:${KEY}`, MILLRACE_RETENTION: '24h' }));
});
after(() => opened.disposeAsync());

const system = () => stack.get<System>('GET', '/system');

suite('the system', () => {
  test('shows streams and buckets with fill and leader, PostgreSQL, versions and this process', async () => {
    const { nats, postgres, versions, process: own } = await system();
    const names = nats.streams?.map(({ name }) => name) ?? [];
    for (const name of ['AUDIT', 'DEAD', 'EVENTS-0', 'EVENTS-1', 'LANES-0', 'OUTCOMES', 'QUARANTINE', 'TICKETS']) {
      assert.ok(names.includes(name), name);
    }
    assert.deepEqual(
      nats.buckets?.map(({ name }) => name),
      ['config', 'floors', 'health', 'layout', 'worked'],
    );
    const limited = [...(nats.streams ?? []), ...(nats.buckets ?? [])].filter(({ name }) => name !== 'TICKETS');
    assert.ok(limited.every(({ fill, maxBytes, bytes }) => fill === bytes / (maxBytes ?? 0)));
    assert.equal(nats.streams?.find(({ name }) => name === 'TICKETS')?.maxBytes, null);
    assert.ok(postgres.isReachable && postgres.bytes > 1_000_000);
    for (const version of Object.values(versions)) assert.match(version ?? '', /^v?\d+\.\d+/);
    assert.deepEqual(own.roles, ['collect', 'deliver', 'control', 'compute']);
    const retention = own.settings.find(({ name }) => name === 'MILLRACE_RETENTION');
    assert.deepEqual([retention?.value, retention?.isDefault], ['24h', false]);
  });

  test('shows the deliver processes that are alive, with their versions', async () => {
    await until(async () => (await system()).deliverProcesses?.length === 1);
    const { deliverProcesses, versions } = await system();
    assert.equal(deliverProcesses?.[0]?.version, versions.millrace);
  });

  test('shows the processes of all roles that are alive', async () => {
    await until(async () => (await system()).processes?.length === 1);
    const { processes, versions } = await system();
    assert.deepEqual(processes?.[0]?.roles, ['collect', 'deliver', 'control', 'compute']);
    assert.equal(processes[0]?.version, versions.millrace);
    assert.ok(Math.abs(Date.parse(processes[0].startedAt) - Date.now()) < 600_000);
  });

  test('adds up the lanes of all workspaces', async () => {
    await using receiver = await openReceiver(answer(503));
    const scene = await addScene(stack, receiver.url);
    await stack.send(scene.writeKey, tracks(30));
    await until(async () => (await system()).lanes.deliveries > 0);
    const { lanes } = await system();
    assert.equal(lanes.inUse, 1);
    assert.equal(
      Object.values(lanes.byState).reduce((sum, count) => sum + count, 0),
      1,
    );
  });

  test('shows no secret', async () => {
    const text = JSON.stringify(await system());
    const passwords = [stack.natsUrl, stack.postgres.serviceUrl, stack.postgres.url].map(
      (url) => new URL(url).password,
    );
    for (const secret of [KEY, TOKEN, ...passwords.filter((password) => password !== '')]) {
      assert.equal(text.includes(secret), false);
    }
    assert.match(text, /"MILLRACE_KEYS","value":"\*\*\*"/);
  });

  test('is for owners of the first workspace alone', async () => {
    const store = stack.store();
    const ask = (token: string) =>
      fetch(`${stack.controlUrl()}/system`, { headers: { Authorization: `Bearer ${token}` } });
    const stranger = await addToken(store, await addWorkspace(store), { role: 'owner' });
    assert.equal((await ask(stranger)).status, 403);
    const [first] = await stack.sql<{ id: string }>('SELECT id FROM workspaces ORDER BY created_at LIMIT 1');
    assert.equal((await ask(await addToken(store, first?.id ?? '', { role: 'admin' }))).status, 403);
  });

  test('is answered without NATS too, and says that it is away', async () => {
    await stack.nats.nodes[0]?.kill('SIGSTOP');
    try {
      const { nats, versions, postgres } = await system();
      assert.deepEqual(nats, { isReachable: false, streams: null, buckets: null });
      assert.deepEqual([versions.nats, postgres.isReachable], [null, true]);
    } finally {
      await stack.nats.nodes[0]?.kill('SIGCONT');
    }
    await until(async () => (await system()).nats.isReachable);
  });
});
