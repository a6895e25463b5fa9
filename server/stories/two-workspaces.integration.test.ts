/** Fairness between workspaces: the load of one does not slow another, with every role and both engines. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Source } from '@millrace/contract/control';
import { startNatsCluster } from '@millrace/engines';
import { startMigratedPostgres } from '../testing/migrated-postgres.ts';
import { readConfig } from '../src/config.ts';
import { addMember, addToken, addWorkspace } from '../testing/control.ts';
import { hashPassword } from '../src/control/access/password.ts';
import { openReceiver } from '../testing/receiver.ts';
import { openLog } from '../src/log.ts';
import { stackSettings } from '../testing/stack.ts';
import { startRoles } from '../src/start-roles.ts';
import { openStore } from '../src/store/open-store.ts';
import { until } from '../testing/until.ts';
import { tracks } from '../testing/samples.ts';

const log = openLog({ level: 'silent', pretty: false });
const PASSWORD = 'a password of the owner';
const anHour = 3_600_000;

async function openScene() {
  await using opening = new AsyncDisposableStack();
  const nats = opening.use(await startNatsCluster({ nodes: 1 }));
  const postgres = opening.use(await startMigratedPostgres());
  const read = readConfig(stackSettings(nats.url, postgres));
  assert.ok(read.ok);
  const running = opening.use(await startRoles(read.value, log));
  assert.ok(running.control);
  const { store, port } = running.control;
  const open = opening.move();
  return {
    node: nats.nodes[0],
    store,
    postgresUrl: postgres.url,
    controlUrl: `http://127.0.0.1:${port}`,
    collectUrl: `http://127.0.0.1:${running.collectPort}`,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

let scene: Awaited<ReturnType<typeof openScene>>;
before(async () => void (scene = await openScene()));
after(() => scene[Symbol.asyncDispose]());

suite('of two workspaces', () => {
  test('slow replays of one hold up neither deletion requests nor replays of the other', {
    timeout: 180_000,
  }, async () => {
    await using receiver = await openReceiver();
    const [greedy, other] = [await newTenant(receiver.url), await newTenant(receiver.url)];
    await greedy.send(60);
    await other.send(5);
    for (let i = 0; i < 20; i += 1) {
      assert.equal((await greedy.owner('POST', '/replays', { ...greedy.range(), ratePerSecond: 1 })).status, 201);
    }
    // All that may run do, and have taken what they can.
    await until(async () => (await runningJobs(greedy.workspaceId)) >= 4);
    const deletion = await other.owner('POST', '/deletion-requests', { userIds: ['u1'] });
    const replay = await other.owner('POST', '/replays', other.range());
    await until(async () => (await other.stateOf('/replays', replay)) === 'done', 60_000);
    await until(async () => (await other.stateOf('/deletion-requests', deletion)) === 'done', 90_000);
    assert.ok((await runningJobs(greedy.workspaceId)) >= 4, 'the others are still at it');
  });

  test('one finds nothing of the other in its overview, its stored events, its schemas and its figures', async () => {
    await using receiver = await openReceiver();
    const [one, other] = [await newTenant(receiver.url), await newTenant('http://127.0.0.1:1999/')];
    await one.send(5);
    const askBoth = async (path: string) => [await one.viewer('GET', path), await other.viewer('GET', path)] as const;
    await until(async () => /"delivered":5/.test(JSON.stringify((await one.viewer('GET', '/overview')).body)));
    const [, overview] = await askBoth('/overview');
    assert.doesNotMatch(
      JSON.stringify(overview.body),
      new RegExp(`${one.sourceId}|${one.destinationId}|"delivered":5`),
    );
    for (const path of [`/stored-events?sourceId=${one.sourceId}`, `/sources/${one.sourceId}/schema`]) {
      const [mine, theirs] = await askBoth(path);
      assert.deepEqual([mine.status, theirs.status], [200, 404], path);
      assert.match(JSON.stringify(mine.body), /"lookedAt":\{"requests":1,"events":5\}/);
    }
    for (const path of ['metrics', 'errors'].map((figures) => `/destinations/${one.destinationId}/${figures}`)) {
      const [mine, theirs] = await askBoth(path);
      assert.deepEqual([mine.status, theirs.status], [200, 404], path);
    }
    const { body } = await one.viewer('GET', '/deliveries?limit=1');
    const [delivery] = body['items'] as { id: string }[];
    for (const path of [`/destinations/${one.destinationId}/probe`, `/deliveries/${delivery?.id}/retry`]) {
      const [mine, theirs] = [await one.owner('POST', path), await other.owner('POST', path)];
      assert.deepEqual([mine.status, theirs.status], [409, 404], path);
    }
    const [mine, theirs] = await askBoth(`/deliveries/${delivery?.id}/request`);
    assert.deepEqual([mine.status, theirs.status], [200, 404]);
    assert.equal((await one.owner('GET', '/system')).status, 403, 'neither is the operator');
  });

  test('questions of one to an engine that hangs leave the other, sign-in and readiness alone', {
    timeout: 120_000,
  }, async (t) => {
    await using receiver = await openReceiver();
    const [greedy, other] = [await newTenant(receiver.url), await newTenant(receiver.url)];
    await greedy.send(5);
    await scene.node?.kill('SIGSTOP');
    try {
      const asked = [
        () => greedy.viewer('POST', '/replays/preview', greedy.range()),
        () => greedy.viewer('GET', `/dead-letters?destinationId=${greedy.destinationId}`),
        () => greedy.viewer('GET', `/stored-events?sourceId=${greedy.sourceId}`),
        () => greedy.viewer('GET', `/sources/${greedy.sourceId}/schema`),
      ];
      const questions = Array.from({ length: 10 }, () => asked.map((ask) => ask())).flat();
      const early = questions.map((question) => question.then((answer) => answers.push(answer)));
      const answers: Awaited<ReturnType<Ask>>[] = [];
      await until(() => answers.length >= 36);
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [429]);
      assert.equal(answers[0]?.headers.get('retry-after'), '2');
      const slowest = await stillAnswers(other);
      t.diagnostic(`the slowest answer to the other took ${Math.round(slowest)} ms`);
      await scene.node?.kill('SIGCONT');
      await Promise.all(early);
    } finally {
      await scene.node?.kill('SIGCONT');
    }
    await until(async () => (await greedy.viewer('POST', '/replays/preview', greedy.range())).status === 200);
  });

  test('tests of one to a receiver that hangs leave checks, tests and previews to the other', {
    timeout: 120_000,
  }, async (t) => {
    await using hanging = await openReceiver(() => undefined);
    await using receiver = await openReceiver();
    const [greedy, other] = [await newTenant(hanging.url), await newTenant(receiver.url)];
    const tests = Array.from({ length: 40 }, () =>
      greedy.owner('POST', `/destinations/${greedy.destinationId}/test`, {}),
    );
    await until(() => hanging.received.length === 4);
    const startedAt = performance.now();
    const [checked, tested, previewed] = [
      await other.owner('POST', '/destinations/check-url', { url: receiver.url }),
      await other.owner('POST', `/destinations/${other.destinationId}/test`, {}),
      await other.owner('POST', '/destinations/preview', { sourceId: other.sourceId }),
    ];
    t.diagnostic(`the answers to the other took ${Math.round(performance.now() - startedAt)} ms`);
    assert.deepEqual([checked.status, tested.status, previewed.status], [200, 200, 200]);
    assert.equal(receiver.received.length, 1);
    const third = await newTenant(receiver.url);
    assert.equal((await third.owner('POST', `/destinations/${other.destinationId}/test`, {})).status, 404);
    assert.equal((await third.owner('POST', `/destinations/${other.destinationId}/check-up`, {})).status, 404);
    assert.equal((await third.owner('GET', `/destinations/${other.destinationId}/check-up`)).status, 404);
    assert.equal((await third.owner('POST', '/destinations/preview', { sourceId: other.sourceId })).status, 404);
    assert.equal(receiver.received.length, 1, 'and nobody reaches what is the other’s');
    const statuses = (await Promise.all(tests)).map(({ status }) => status);
    assert.deepEqual(
      statuses.filter((status) => status !== 429),
      [200, 200, 200, 200],
    );
    assert.equal(hanging.received.length, 4);
  });

  test('requests of one that hang in the database leave connections to the other', { timeout: 120_000 }, async (t) => {
    await using receiver = await openReceiver();
    const [greedy, other] = [await newTenant(receiver.url), await newTenant(receiver.url)];
    await using beside = await openStore(scene.postgresUrl);
    const held = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const holding = beside.inWorkspace(greedy.workspaceId, async (tx) => {
      await tx.query('SELECT id FROM destinations WHERE id = $1 FOR UPDATE', [greedy.destinationId]);
      held.resolve();
      await release.promise;
    });
    await held.promise;
    const changes = Array.from({ length: 30 }, () =>
      greedy.owner('PATCH', `/destinations/${greedy.destinationId}`, { name: 'x' }),
    );
    try {
      await until(async () => (await waitingForLocks(beside)) >= 4);
      const slowest = await stillAnswers(other);
      t.diagnostic(`the slowest answer to the other took ${Math.round(slowest)} ms`);
      assert.ok((await waitingForLocks(beside)) <= 4, 'no more of them than its share');
    } finally {
      release.resolve();
      await holding;
    }
    await Promise.all(changes);
  });

  test('live tails of a viewer keep neither the owner out nor the other workspace', { timeout: 120_000 }, async () => {
    const [greedy, other] = [await newTenant('http://127.0.0.1:9'), await newTenant('http://127.0.0.1:9')];
    await using tails = openTails();
    const viewers = [greedy.viewerToken, ...(await Promise.all([1, 2, 3, 4].map(() => greedy.newViewer())))];
    for (const token of viewers) {
      for (let i = 0; i < 10; i += 1) assert.equal(await tails.open(token, greedy.sourceId), 200);
      const refused = await tails.refused(token, greedy.sourceId);
      assert.deepEqual([refused.status, refused.retryAfter], [429, '10']);
    }
    assert.equal(tails.live(), 50);
    assert.equal(await tails.open(greedy.ownerToken, greedy.sourceId), 200);
    await until(() => tails.live() === 50 && tails.endedWith().includes('too_many_streams'));
    assert.equal(await tails.open(other.ownerToken, other.sourceId), 200);
    assert.equal(tails.live(), 51);
  });
});

/** The slowest of what the other workspace, a new session and a load balancer ask, in milliseconds. */
async function stillAnswers(tenant: Tenant): Promise<number> {
  let slowest = 0;
  const timed = async (what: string, asked: () => Promise<{ status: number }>, status: number) => {
    const startedAt = performance.now();
    assert.equal((await asked()).status, status, what);
    slowest = Math.max(slowest, performance.now() - startedAt);
  };
  for (let i = 0; i < 3; i += 1) {
    await timed('list', () => tenant.owner('GET', '/sources'), 200);
    await timed('readyz', () => fetch(`${scene.controlUrl}/readyz`), 200);
    await timed('sign-in', () => signIn(tenant.email), 204);
    const made = await tenant.owner('POST', `/sources/${tenant.sourceId}/write-keys`, {});
    await timed(
      'revoke',
      () => tenant.owner('DELETE', `/sources/${tenant.sourceId}/write-keys/${String(made.body['id'])}`),
      204,
    );
  }
  return slowest;
}

type Answered = { status: number; headers: Headers; body: Record<string, unknown> };
type Ask = (method: string, path: string, body?: object) => Promise<Answered>;

function askAs(token: string): Ask {
  return async (method, path, body) => {
    const headers = { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const answer = await fetch(`${scene.controlUrl}/api/v1${path}`, init);
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, body: text === '' ? {} : JSON.parse(text) };
  };
}

function signIn(email: string): Promise<Response> {
  return fetch(`${scene.controlUrl}/api/v1/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password: PASSWORD }),
  });
}

type Tenant = Awaited<ReturnType<typeof newTenant>>;
let tenants = 0;

async function newTenant(url: string) {
  tenants += 1;
  const workspaceId = await addWorkspace(scene.store);
  const ownerToken = await addToken(scene.store, workspaceId, { role: 'owner' });
  const newViewer = () => addToken(scene.store, workspaceId, { role: 'viewer' });
  const viewerToken = await newViewer();
  const email = `owner${tenants}@example.com`;
  await addMember(scene.store, workspaceId, { email, role: 'owner', passwordHash: await hashPassword(PASSWORD) });
  const owner = askAs(ownerToken);
  const source = (await owner('POST', '/sources', { name: 'Shop' })).body as unknown as Source;
  const settings = { targets: [{ url }] };
  const made = await owner('POST', '/destinations', {
    sourceId: source.id,
    catalog: 'Webhooks',
    enabled: true,
    settings,
  });
  const destinationId = String(made.body['id']);
  const key = source.writeKeys[0]?.key ?? '';
  const post = async (count: number) => {
    const headers = { Authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` };
    const body = JSON.stringify({ batch: tracks(count) });
    return (await fetch(`${scene.collectUrl}/v1/batch`, { method: 'POST', headers, body })).status;
  };
  return {
    workspaceId,
    ownerToken,
    viewerToken,
    newViewer,
    email,
    owner,
    viewer: askAs(viewerToken),
    sourceId: source.id,
    destinationId,
    range: () => ({
      sourceId: source.id,
      destinationId,
      from: new Date(Date.now() - anHour).toISOString(),
      to: new Date(Date.now() + anHour).toISOString(),
    }),
    send: (count: number) => until(async () => (await post(count)) === 200),
    async stateOf(path: string, { body }: Answered): Promise<unknown> {
      return (await owner('GET', `${path}/${String(body['id'])}`)).body['state'];
    },
  };
}

/** Jobs of a workspace that some process runs. */
async function runningJobs(workspaceId: string): Promise<number> {
  const sql = `SELECT id FROM jobs WHERE state = 'running' AND workspace_id = $1 AND leased_until > now()`;
  return (await scene.store.asSystem((tx) => tx.query(sql, [workspaceId]))).length;
}

async function waitingForLocks(store: typeof scene.store): Promise<number> {
  const sql = 'SELECT pid FROM pg_locks WHERE NOT granted';
  return (await store.asSystem((tx) => tx.query(sql))).length;
}

function openTails() {
  const closing = new AbortController();
  const codes: string[] = [];
  let live = 0;
  const request = (token: string, sourceId: string) =>
    fetch(`${scene.controlUrl}/api/v1/sources/${sourceId}/tail`, {
      headers: { Authorization: `Bearer ${token}` },
      signal: closing.signal,
    });
  const follow = async (answer: Response) => {
    live += 1;
    try {
      const decoder = new TextDecoder();
      for await (const chunk of answer.body ?? []) {
        const code = /"kind":"end","code":"(\w+)"/.exec(decoder.decode(chunk as Uint8Array))?.[1];
        if (code !== undefined) codes.push(code);
      }
    } catch {
      // Closed by us.
    } finally {
      live -= 1;
    }
  };
  return {
    live: () => live,
    endedWith: () => codes,
    async open(token: string, sourceId: string): Promise<number> {
      const answer = await request(token, sourceId);
      if (answer.status === 200) void follow(answer);
      return answer.status;
    },
    async refused(token: string, sourceId: string) {
      const answer = await request(token, sourceId);
      await answer.arrayBuffer();
      return { status: answer.status, retryAfter: answer.headers.get('retry-after') };
    },
    async [Symbol.asyncDispose]() {
      closing.abort();
      await until(() => live === 0);
      await nextTurn();
    },
  };
}
