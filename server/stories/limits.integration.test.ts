/**
 * Every limit × under, at, over, and another workspace at its limit. The tests come from the table of limits: a new limit without a
 * driver does not compile, and one that holds nothing back fails.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { LIMIT_NAMES, type LimitName, type LimitUse, WorkspaceLimits } from '@millrace/contract/control';
import { Value } from 'typebox/value';
import { limitSentence } from '../src/limits/limits.ts';
import { addToken, addWorkspace } from '../testing/control.ts';
import { answer, openReceiver } from '../testing/receiver.ts';
import { track } from '../testing/samples.ts';
import { addScene, openStack, type Scene, type Stack } from '../testing/stack.ts';
import { until } from '../testing/until.ts';

const MINUTE = 60_000;
const PADDING = 'x'.repeat(2_000);

let stack: Stack;
let refusing: Awaited<ReturnType<typeof openReceiver>>;
before(async () => {
  stack = await openStack({ MILLRACE_EVENT_STREAMS: '1' });
  refusing = await openReceiver(answer(400));
});
after(async () => {
  await refusing[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
});

type Tenant = Scene & {
  workspaceId: string;
  token: string;
  as: ReturnType<Stack['as']>;
  made: number;
  tails: AbortController;
};
type Tried = { taken: true } | { taken: false; said: string };
type Driver = {
  most: number;
  /** How many are taken before one is refused: exactly as many as the limit, or about that for bytes and rates. */
  isExact: boolean;
  /** Uses a bit more of the limit. */
  one(tenant: Tenant): Promise<Tried>;
  /** Where it is not the sentence of the limit. */
  says?: RegExp;
};

const TAKEN: Tried = { taken: true };
type Problem = { code: string; errors?: { message: string }[] };

async function tryApi({ as }: Tenant, method: string, path: string, body?: object): Promise<Tried & { id?: string }> {
  const { status, body: answered } = await as.ask<Problem & { id?: string }>(method, path, body);
  if (status < 300) return { ...TAKEN, ...(answered.id === undefined ? {} : { id: answered.id }) };
  assert.ok(status === 409 || status === 429, `${status} ${JSON.stringify(answered)}`);
  return { taken: false, said: answered.errors?.[0]?.message ?? '' };
}

function newDestination({ sourceId, made }: Tenant, more: object = {}) {
  const url = `http://127.0.0.1:9999/${made}`;
  return { sourceId, catalog: 'Webhooks', settings: { targets: [{ url, ...more }] } };
}

/** A call with a long text; taken when `isLost` is not true of it after deliver has done with it. */
async function sendLong(tenant: Tenant, isLost: (messageId: string) => Promise<boolean>, said: string): Promise<Tried> {
  const messageId = `${tenant.workspaceId}-${tenant.made}`;
  const call = { ...track('Long', { messageId }), properties: { PADDING } };
  assert.equal(await stack.send(tenant.writeKey, [call]), 200);
  await until(async () => (await stack.unsettled()) === 0, MINUTE);
  return (await isLost(messageId)) ? { taken: false, said } : TAKEN;
}

async function hasLetter(messageId: string, reason?: string): Promise<boolean> {
  type Letter = { reason: string; delivery: { event: { messageId: string } } };
  const letters = await stack.deadLetters<Letter>();
  return letters.some(({ delivery, ...letter }) => {
    return delivery.event.messageId === messageId && (reason === undefined || letter.reason === reason);
  });
}

const DRIVERS: Readonly<Record<LimitName, Driver>> = {
  callsPerSecond: {
    most: 10,
    isExact: false,
    // A batch is never cut in two: it leaves a debt that takes longer than the test.
    async one({ writeKey, made }) {
      const headers = { Authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}` };
      const batch = Array.from({ length: 2_000 }, (_, index) => track(`${made} ${index}`));
      const sent = { method: 'POST', headers, body: JSON.stringify({ batch }) };
      const response = await fetch(`${stack.collectUrl()}/v1/batch`, sent);
      const body = (await response.json()) as { message: string; limit?: { most: number } };
      if (response.status === 200) return TAKEN;
      assert.equal(response.status, 429);
      assert.ok(Number(response.headers.get('retry-after')) > 0);
      const { most, ...limit } = body.limit ?? {};
      assert.deepEqual(limit, { name: 'callsPerSecond', raisedBy: 'operator' });
      // The default, once the workspace has no number of its own any more.
      assert.ok(most === 10 || most === 100_000, String(most));
      return { taken: false, said: body.message };
    },
  },
  // The tenants of this test have one already.
  sources: { most: 5, isExact: true, one: (tenant) => tryApi(tenant, 'POST', '/sources', { name: 'More' }) },
  destinations: {
    most: 5,
    isExact: true,
    one: (tenant) => tryApi(tenant, 'POST', '/destinations', newDestination(tenant)),
  },
  targetHosts: {
    most: 5,
    isExact: true,
    // A parser of URLs takes any number of slashes.
    one: (tenant) => {
      const url = `http:${'/'.repeat(2 + (tenant.made % 3))}127.0.1.${tenant.made}:9999/`;
      return tryApi(tenant, 'POST', '/destinations', newDestination(tenant, { url }));
    },
  },
  configBytes: {
    most: 60_000,
    isExact: false,
    one: (tenant) => {
      const headers = Object.fromEntries(['a', 'b', 'c'].map((name) => [`x-${name}`, 'x'.repeat(4_000)]));
      return tryApi(tenant, 'POST', '/destinations', newDestination(tenant, { headers }));
    },
  },
  laneBytes: {
    most: 20_000,
    isExact: false,
    says: /lane_full/,
    one: (tenant) => sendLong(tenant, (messageId) => hasLetter(messageId, 'lane_full'), 'lane_full'),
  },
  deadLetterBytes: {
    most: 20_000,
    isExact: false,
    says: /letter refused/,
    one: (tenant) => sendLong(tenant, async (messageId) => !(await hasLetter(messageId)), 'letter refused'),
  },
  jobs: {
    most: 5,
    isExact: true,
    async one(tenant) {
      const { sourceId, destinationId } = tenant;
      const range = { sourceId, destinationId, from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
      const tried = await tryApi(tenant, 'POST', '/replays', range);
      // Without events a replay ends at once: paused, it counts on.
      if (tried.id !== undefined) await stack.sql(`UPDATE jobs SET state = 'paused' WHERE id = $1`, [tried.id]);
      return tried;
    },
  },
  tails: {
    most: 5,
    isExact: true,
    async one({ sourceId, token, tails }) {
      const headers = { Authorization: `Bearer ${token}` };
      const url = `${stack.controlUrl()}/sources/${sourceId}/tail`;
      const response = await fetch(url, { headers, signal: tails.signal });
      if (response.status === 200) return TAKEN;
      assert.equal(response.status, 429);
      return { taken: false, said: ((await response.json()) as Problem).errors?.[0]?.message ?? '' };
    },
  },
  apiRequestsPerSecond: { most: 1, isExact: false, one: (tenant) => tryApi(tenant, 'GET', '/sources') },
};

/** Beyond this the limit holds nothing back. */
const MANY = 40;

async function addTenant(name: LimitName): Promise<Tenant> {
  const workspaceId = await addWorkspace(stack.store(), name);
  const token = await addToken(stack.store(), workspaceId, { role: 'owner' });
  const as = stack.as(token);
  const scene = await addScene(as, refusing.url);
  // Thousands of calls would become dead letters, and every later test reads those.
  if (name === 'callsPerSecond') await as.ask('DELETE', `/destinations/${scene.destinationId}`);
  if (name === 'laneBytes') {
    await as.get('PATCH', `/destinations/${scene.destinationId}`, { paused: true });
    await until(() => stack.view().destination(scene.destinationId)?.paused === true);
  }
  return { ...scene, workspaceId, token, as, made: 0, tails: new AbortController() };
}

function setLimit({ workspaceId }: Tenant, name: LimitName, most: number | null): Promise<WorkspaceLimits> {
  return stack.get('PATCH', `/operator/workspaces/${workspaceId}/limits`, { limits: { [name]: most } });
}

async function tryOne(tenant: Tenant, { one }: Driver): Promise<Tried> {
  tenant.made += 1;
  return one(tenant);
}

/** As the operator sees it: a workspace at its limit of requests cannot ask itself. */
async function useOf({ workspaceId }: Tenant, name: LimitName): Promise<LimitUse> {
  const shown = await stack.get<WorkspaceLimits>('GET', `/operator/workspaces/${workspaceId}/limits`);
  assert.deepEqual([...Value.Errors(WorkspaceLimits, shown)], []);
  const found = shown.limits.find((limit) => limit.name === name);
  assert.ok(found !== undefined);
  return found;
}

/** Uses the limit up. Resolves with the number that was taken, and the words of the first refusal. */
async function useUp(tenant: Tenant, driver: Driver): Promise<{ taken: number; said: string }> {
  for (let taken = 0; taken < MANY; taken += 1) {
    const tried = await tryOne(tenant, driver);
    if (!tried.taken) return { taken, said: tried.said };
  }
  throw new Error(`${MANY} were taken`);
}

const ALREADY: Partial<Record<LimitName, number>> = { sources: 1, destinations: 1, targetHosts: 1 };

suite('the limits of a workspace', () => {
  for (const name of LIMIT_NAMES) {
    const driver = DRIVERS[name];
    test(`${name}: under, at and over it, and another workspace at its own`, { timeout: 4 * MINUTE }, async () => {
      const tenant = await addTenant(name);
      const other = await addTenant(name);
      for (const each of [tenant, other]) await setLimit(each, name, driver.most);
      await until(() => stack.view().limits().has(tenant.workspaceId) || !isProjected(name));

      const before = await useOf(tenant, name);
      assert.deepEqual([before.limit, before.isOwn, before.raisedBy], [driver.most, true, 'operator']);
      const { taken, said } = await useUp(tenant, driver);
      assert.ok(taken >= 1, 'under the limit the first one is taken');
      if (driver.isExact) assert.equal(taken, driver.most - (ALREADY[name] ?? 0), 'up to the limit, and not one more');
      if (driver.says === undefined) assert.ok(said.includes(limitSentence(name, driver.most)), said);
      else assert.match(said, driver.says);

      // A second later the workspace may send one more request to the API.
      if (name !== 'apiRequestsPerSecond') assert.equal((await tryOne(tenant, driver)).taken, false, 'over it');
      assert.deepEqual(await tryOne(other, driver).then(({ taken: isTaken }) => isTaken), true, 'another workspace');
      if (driver.isExact) assert.equal((await useOf(tenant, name)).state, 'reached');

      await setLimit(tenant, name, null);
      await until(async () => (await tryOne(tenant, driver)).taken, MINUTE);
      for (const { tails } of [tenant, other]) tails.abort();
    });
  }

  test('is near from four fifths on, for the workspace, the operator and the metrics', async () => {
    const tenant = await addTenant('sources');
    await setLimit(tenant, 'sources', 5);
    const state = async () => {
      const { limits } = await tenant.as.get<WorkspaceLimits>('GET', '/workspace/limits');
      return limits.find(({ name }) => name === 'sources')?.state;
    };
    assert.equal(await state(), 'below');
    for (let more = 0; more < 3; more += 1) await tenant.as.get('POST', '/sources', { name: 'More' });
    assert.equal(await state(), 'near');
    await tenant.as.get('POST', '/sources', { name: 'More' });
    assert.equal(await state(), 'reached');
    type Listed = { items: { workspaceId: string; limits: LimitUse[] }[] };
    const { items } = await stack.get<Listed>('GET', '/operator/limits?limit=100');
    const listed = items.find(({ workspaceId }) => workspaceId === tenant.workspaceId);
    assert.deepEqual(
      listed?.limits.map(({ name }) => name),
      ['sources'],
    );
  });

  test('hold when twenty ask at once', async () => {
    const tenant = await addTenant('sources');
    await setLimit(tenant, 'sources', 5);
    const asked = Array.from({ length: 20 }, () => tryApi(tenant, 'POST', '/sources', { name: 'More' }));
    const taken = (await Promise.all(asked)).filter((tried) => tried.taken);
    assert.equal(taken.length, 4, 'the workspace had one before');
  });

  test('are changed by the operator alone, for workspaces that exist, and the change is in both audit logs', async () => {
    const tenant = await addTenant('jobs');
    const path = `/operator/workspaces/${tenant.workspaceId}/limits`;
    assert.equal((await tenant.as.ask('PATCH', path, { limits: { jobs: 9 } })).status, 403);
    assert.equal((await tenant.as.ask('GET', path)).status, 403);
    for (const wrong of [{ jobs: 0 }, { jobs: 1.5 }, { jobs: 'many' }, { cats: 5 }]) {
      assert.equal((await stack.ask('PATCH', path, { limits: wrong })).status, 400, JSON.stringify(wrong));
    }
    assert.equal(
      (await stack.ask('PATCH', '/operator/workspaces/ws_none/limits', { limits: { jobs: 9 } })).status,
      404,
    );
    await setLimit(tenant, 'jobs', 9);
    type Log = { items: { action: string; objectId: string; details: object; actor: Record<string, string> }[] };
    const own = await tenant.as.get<Log>('GET', '/audit-log');
    const { kind, ...operator } = own.items.find(({ action }) => action === 'limits.changed')?.actor ?? {};
    assert.deepEqual(
      [kind, Object.keys(operator)],
      ['operator', ['id']],
      'neither address nor session of the operator',
    );
    assert.ok(!JSON.stringify(await stack.get<Log>('GET', '/audit-log')).includes(tenant.workspaceId));
    for (const log of [own, await stack.get<Log>('GET', '/installation/audit-log')]) {
      // A refusal is noted after its answer, and may come behind the change.
      const entry = log.items.find(
        ({ action, objectId }) => action === 'limits.changed' && objectId === tenant.workspaceId,
      );
      const { workspaceId } = tenant;
      assert.deepEqual(entry?.details, { workspaceId, limits: { jobs: 9 }, before: { jobs: null } });
    }
  });

  test('reach collect and deliver with the sources of the workspace, and leave them again', async () => {
    const tenant = await addTenant('callsPerSecond');
    await setLimit(tenant, 'callsPerSecond', 7);
    const own = () => stack.view().limits().get(tenant.workspaceId);
    await until(() => own()?.callsPerSecond === 7);
    await setLimit(tenant, 'laneBytes', 1_000_000);
    await until(() => own()?.laneBytes === 1_000_000);
    await setLimit(tenant, 'callsPerSecond', null);
    await setLimit(tenant, 'laneBytes', null);
    await until(() => own() === undefined);
  });
});

function isProjected(name: LimitName): boolean {
  return name === 'callsPerSecond' || name === 'laneBytes' || name === 'deadLetterBytes';
}
