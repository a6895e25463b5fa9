/** `npm run dev -- --demo`: the made-up shop, over real engines. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Attention, DestinationHealth, Overview, TargetErrors } from '@millrace/contract/control';
import type { DestinationName } from '../src/demo/shop/shop-plan.ts';
import { type Demo, startDemo } from '../src/demo/shop/start-demo.ts';
import { openLog } from '../src/log.ts';
import { openStack, type Stack } from '../testing/stack.ts';
import { until } from '../testing/until.ts';

const TOKEN = 'a-bootstrap-token-of-more-than-32-characters';
/** A busy machine must not fail a wait. */
const PATIENCE_MS = 90_000;

const opened = new AsyncDisposableStack();
let stack: Stack;
let demo: Demo;
before(async () => {
  stack = opened.use(await openStack());
  demo = opened.use(await start(stack));
});
after(() => opened.disposeAsync());

function start({ controlUrl, collectUrl }: Stack): Promise<Demo> {
  const addresses = { controlUrl: new URL(controlUrl()).origin, collectUrl: collectUrl() };
  const log = openLog({ level: 'fatal', pretty: false });
  return startDemo({ ...addresses, token: TOKEN, log, callsPerSecond: 5, seed: 7, firstCalls: 400 });
}

const healthOf = (name: DestinationName) =>
  stack.get<DestinationHealth>('GET', `/destinations/${demo.shop.destinations[name]}/health`);

async function reaches(name: DestinationName, isIntended: (health: DestinationHealth) => boolean): Promise<void> {
  let last: DestinationHealth | undefined;
  const isThere = async () => isIntended((last = await healthOf(name)));
  await until(isThere, PATIENCE_MS, () => `${name}: ${JSON.stringify(last)}`);
}

const hasError = ({ errorClasses }: DestinationHealth, name: string) =>
  errorClasses.some(({ errorClass }) => errorClass === name);

suite('the made-up shop', () => {
  test('has a healthy destination', () =>
    reaches('CRM sync', ({ lane, lastHour }) => lane === null && lastHour.delivered > 50 && lastHour.discarded === 0));

  test('has one that fails at both targets, the second by its certificate', async () => {
    await reaches('Orders to ERP', ({ lane }) => lane?.state === 'failing' && lane.depth > 0);
    const id = demo.shop.destinations['Orders to ERP'];
    await until(async () => {
      const { targets } = await stack.get<TargetErrors>('GET', `/destinations/${id}/errors`);
      const found = targets.flatMap(({ errors }) => errors.map(({ errorClass }) => errorClass));
      return found.includes('http_503') && found.includes('tls_self_signed');
    }, PATIENCE_MS);
  });

  test('has one that rejects every event, so that there are dead letters', async () => {
    await reaches('Email platform', (health) => hasError(health, 'http_401') && health.lastHour.discarded > 10);
    const id = demo.shop.destinations['Email platform'];
    const letters = await stack.get<{ items: object[] }>('GET', `/dead-letters?destinationId=${id}`);
    assert.ok(letters.items.length > 10);
  });

  test('has one that is paused, and its deliveries wait', () =>
    reaches('Fraud scoring', ({ lane }) => lane?.state === 'paused' && lane.depth > 0));

  test('has one that asks Millrace to wait, and drains in between', async () => {
    await reaches('Warehouse loader', (health) => hasError(health, 'http_429') && health.lane !== null);
    await reaches('Warehouse loader', ({ lane }) => lane?.state === 'draining' && lane.depth > 0);
  });

  test('has one whose filters skip most events', () =>
    reaches('Analytics mirror', ({ lastHour }) => lastHour.delivered > 5 && lastHour.skipped > lastHour.delivered));

  test('sends calls of all six types, and some that collect refuses', async () => {
    const types = new Set<string>();
    for (const { id } of Object.values(demo.shop.sources)) {
      const { items } = await stack.get<{ items: { type: string }[] }>('GET', `/sources/${id}/schema`);
      for (const { type } of items) types.add(type);
    }
    assert.deepEqual([...types].sort(), ['alias', 'group', 'identify', 'page', 'screen', 'track']);
    const mobile = demo.shop.sources['Mobile app'].id;
    await until(async () => {
      const { attention } = await stack.get<Overview>('GET', '/overview');
      return attention.some(({ kind, sourceId }: Attention) => kind === 'source_refusals' && sourceId === mobile);
    }, PATIENCE_MS);
  });

  test('has members who can sign in, a token, a finished replay and a finished deletion request', async () => {
    const { email, password } = demo.account;
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify({ email, password });
    assert.equal((await fetch(`${stack.controlUrl()}/session`, { method: 'POST', headers, body })).status, 204);
    const replays = await stack.get<Jobs>('GET', '/replays');
    assert.deepEqual([replays.items.length, replays.items[0]?.state], [1, 'done']);
    assert.ok((replays.items[0]?.progress.done ?? 0) > 0);
    await until(async () => {
      const deletions = await stack.get<Jobs>('GET', '/deletion-requests');
      return deletions.items.length === 1 && deletions.items[0]?.state === 'done';
    }, PATIENCE_MS);
  });

  test('is not made twice by a second start, which may have other ports', async () => {
    const before = await countAll();
    assert.deepEqual(before, {
      sources: 3,
      destinations: 6,
      definitions: 2,
      members: 4,
      tokens: 2,
      replays: 1,
      'deletion-requests': 1,
    });
    const first = demo.receivers.urls.crm;
    await using again = await start(stack);
    assert.notEqual(again.receivers.urls.crm, first);
    assert.deepEqual(await countAll(), before);
    assert.deepEqual(again.shop, demo.shop);
    const crm = await stack.get<Targets>('GET', `/destinations/${again.shop.destinations['CRM sync']}`);
    assert.equal(crm.settings.targets[0]?.url, again.receivers.urls.crm);
  });

  test('stops sending when it is stopped', async () => {
    await demo[Symbol.asyncDispose]();
    const sent = demo.sent();
    assert.ok(sent >= 400);
    await assert.rejects(fetch(demo.receivers.urls.crm));
    assert.equal(demo.sent(), sent);
  });
});

type Jobs = { items: { state: string; progress: { done: number } }[] };
type Targets = { settings: { targets: { url: string }[] } };

/** Without the source that Millrace makes when it first tells of an audience. */
async function countAll(): Promise<Record<string, number>> {
  const paths = ['sources', 'destinations', 'definitions', 'members', 'tokens', 'replays', 'deletion-requests'];
  const counts = paths.map(async (path) => {
    const { items } = await stack.get<{ items: { kind?: string }[] }>('GET', `/${path}`);
    return [path, items.filter(({ kind }) => kind !== 'computed').length] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}
