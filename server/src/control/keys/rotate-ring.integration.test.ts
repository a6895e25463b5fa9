import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { suite, test } from 'node:test';
import { startMigratedPostgres } from '../../../testing/migrated-postgres.ts';
import { pino } from 'pino';
import { openLog } from '../../log.ts';
import { listCanaries } from '../../store/key-ring.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import { countSealedBy } from '../../store/sealed-values.ts';
import { checkKeyRing } from './check-key-ring.ts';
import { addToken, addWorkspace, QUIET_NEEDS } from '../../../testing/control.ts';
import { rotateRing } from './rotate-ring.ts';
import { headOf, type KeyRing, openKeyRing } from '../../secrets/seal.ts';
import { serveControl } from '../serve-control.ts';

const log = openLog({ level: 'silent', pretty: false });
const now = () => new Date();
const KEYS = new Map([
  [1, randomBytes(32)],
  [2, randomBytes(32)],
]);
/** The last one seals. */
const ring = (...ids: number[]) => openKeyRing(new Map(ids.map((id) => [id, KEYS.get(id) ?? randomBytes(32)])));

suite('the key ring', () => {
  test('rotates while people read and write, without one failed request', async (t) => {
    await using scene = await openScene();
    await checkKeyRing(scene.store, ring(2, 1));
    await using before = await serve(scene, ring(2, 1));
    const ids: string[] = [];
    for (let i = 0; i < 60; i += 1) ids.push(await createBoth(before, `a${i}`));
    await using after = await serve(scene, ring(1, 2));
    const run = { isOver: false, requests: 0 };
    const load = [before, after].map(async (server) => {
      for (let i = 0; !run.isOver; i += 1) {
        const path = `/api/v1/destinations/${ids[i % ids.length] ?? ''}`;
        await server.ask('GET', '/api/v1/sources?limit=100');
        const { body } = await server.ask('GET', path);
        await server.ask('PATCH', path, { settings: body['settings'], name: `changed ${i}` });
        run.requests += 3;
        // A process that has not been told yet goes on sealing with the old key.
        if (i < 20) await createBoth(server, `b${i}`);
      }
    });
    let passes = 0;
    for (let isDone = false; !isDone || run.requests < 300; passes += 1) {
      isDone = await rotateRing({ store: scene.store, keyRing: ring(1, 2), log, now });
    }
    run.isOver = true;
    await Promise.all(load);
    t.diagnostic(`${run.requests} requests besides those that create, ${passes} passes`);

    assert.ok(await rotateRing({ store: scene.store, keyRing: ring(1, 2), log, now }));
    assert.equal(await scene.store.asSystem((tx) => countSealedBy(tx, headOf(1))), 0);
    await using alone = await serve(scene, ring(2));
    const sources = await alone.ask('GET', '/api/v1/sources?limit=100');
    assert.ok((sources.body['items'] as unknown[]).length >= 60);
    await alone.ask('POST', `/api/v1/destinations/${ids[0] ?? ''}/rotate-secret`, {}, `rotate-${ids[0] ?? ''}`);
  });

  test('is said to be rotated only after everything is sealed and signed anew', async () => {
    await using scene = await openScene();
    await checkKeyRing(scene.store, ring(1));
    {
      await using server = await serve(scene, ring(1));
      await createBoth(server, 'a');
    }
    const lines: string[] = [];
    const told = pino({}, { write: (line: string) => void lines.push(line) });
    const rotate = (isSigned: boolean) => {
      const signedAnew = async () => {
        lines.push(`sealed with the old key: ${await scene.store.asSystem((tx) => countSealedBy(tx, headOf(1)))}`);
        return isSigned;
      };
      return rotateRing({ store: scene.store, keyRing: ring(1, 2), log: told, now, signedAnew });
    };
    assert.ok(await rotate(false));
    assert.doesNotMatch(lines.join('\n'), /ring\.rotated/);
    assert.ok(lines.includes('sealed with the old key: 0'));
  });

  test('is refused at the start without a key that is in use, and may lose one that is not', async () => {
    await using scene = await openScene();
    await checkKeyRing(scene.store, ring(1));
    {
      await using server = await serve(scene, ring(1));
      await createBoth(server, 'a');
    }
    await assert.rejects(checkKeyRing(scene.store, ring(2)), /key 1 is not in MILLRACE_KEYS, but 4 rows/);
    await checkKeyRing(scene.store, ring(1, 2));
    assert.ok(await rotateRing({ store: scene.store, keyRing: ring(1, 2), log, now }));
    await checkKeyRing(scene.store, ring(2));
    const canaries = await scene.store.asSystem(listCanaries);
    assert.deepEqual(canaries.map((row) => row.key_id), [2]); // biome-ignore format: short
  });

  test('is refused at the start with another key under the same id', async () => {
    await using scene = await openScene();
    await checkKeyRing(scene.store, ring(1));
    const other = openKeyRing(new Map([[1, randomBytes(32)]]));
    await assert.rejects(checkKeyRing(scene.store, other), /is not the key 1/);
  });
});

type Scene = { store: Store; token: string };
type Server = Awaited<ReturnType<typeof serve>>;

async function openScene() {
  await using opening = new AsyncDisposableStack();
  const postgres = opening.use(await startMigratedPostgres());
  const store = opening.use(await openStore(postgres.serviceUrl));
  const token = await addToken(store, await addWorkspace(store), { role: 'owner' });
  const opened = opening.move();
  return { store, token, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** A control process with a ring of its own. Every answer that is not a success fails the test. */
async function serve({ store, token }: Scene, keyRing: KeyRing) {
  const settings = { host: '127.0.0.1', port: 0, maxConnections: 100, trustedProxies: [] };
  const needs = {
    ...QUIET_NEEDS,
    store,
    keyRing,
    now,
    log,
  };
  const server = await serveControl(settings, needs);
  return {
    async ask(method: string, path: string, ...[body, idempotencyKey]: [body?: unknown, idempotencyKey?: string]) {
      const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, {
        method,
        headers: {
          Authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
      return { body: JSON.parse(text) as Record<string, unknown> };
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** A source and a destination with everything that is sealed: a key, an answer, a header, secrets old and new. */
async function createBoth(server: Server, name: string): Promise<string> {
  const source = await server.ask('POST', '/api/v1/sources', { name }, `key-${name}-${randomBytes(4).toString('hex')}`);
  const settings = { targets: [{ url: 'https://a.example/', headers: { 'X-Key': 'k' } }], sharedSecret: 'long enough' };
  const body = { sourceId: source.body['id'], catalog: 'Webhooks', settings };
  const destination = await server.ask('POST', '/api/v1/destinations', body);
  const id = String(destination.body['id']);
  await server.ask('POST', `/api/v1/destinations/${id}/rotate-secret`, {}, `rotate-${id}`);
  return id;
}
