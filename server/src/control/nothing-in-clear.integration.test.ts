import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Writable } from 'node:stream';
import { suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { startMigratedPostgres } from '../../testing/migrated-postgres.ts';
import { pino } from 'pino';
import { openStore } from '../store/open-store.ts';
import { openStream } from '../stream/open-stream.ts';
import { addToken, addWorkspace, QUIET_NEEDS } from '../../testing/control.ts';
import { projectChanges } from '../projection/project-changes.ts';
import { rotateRing } from './keys/rotate-ring.ts';
import { openKeyRing } from '../secrets/seal.ts';
import { serveControl } from './serve-control.ts';
import { STREAM_SETTINGS } from '../../testing/stream-settings.ts';

const SECRETS = {
  header: 'Bearer clear-header-value-1',
  shared: 'clear-shared-secret-2',
  changed: 'clear-shared-secret-3',
  given: 'clear-shared-secret-4',
  refused: 'clear-header-value-5\u0007',
};

suite('a secret', () => {
  test('is in clear in no answer, no line of the log, no entry of the bucket and no dump of the database', async () => {
    await using scene = await openScene();
    const { ask, store, configWriter, keyRing, log } = scene;
    const source = await ask('POST', '/sources', { name: 'S' });
    const target = { url: 'https://example.com/hook', headers: { Authorization: SECRETS.header } };
    const settings = { targets: [target], sharedSecret: SECRETS.shared };
    const created = await ask('POST', '/destinations', { sourceId: source['id'], catalog: 'Webhooks', settings });
    const path = `/destinations/${String(created['id'])}`;
    await ask('PATCH', path, { enabled: true, settings: { ...settings, sharedSecret: SECRETS.changed } });
    await ask('POST', `${path}/rotate-secret`, { sharedSecret: SECRETS.given });
    const bad = { targets: [{ ...target, headers: { Authorization: SECRETS.refused } }], sharedSecret: 'short-6' };
    await ask('PATCH', path, { settings: bad });
    await ask('GET', path);
    await ask('GET', '/destinations');
    await ask('GET', '/audit-log');
    const made = String((await ask('POST', `${path}/rotate-secret`, {}, 'idempotency-1'))['sharedSecret']);
    assert.match(made, /^whsec_/);
    const [, ...answersBefore] = scene.answers.toReversed();
    await rotateRing({ store, keyRing, log, now: () => new Date() });
    await projectChanges({ store, configWriter, log });

    const bucket: string[] = [];
    await configWriter.readAll((_, value) => bucket.push(value));
    assert.equal(bucket.length, 2);
    const [writeKey] = source['writeKeys'] as { key: string }[];
    const dump = scene.postgres.dump();
    assert.match(dump, /destination\.secret_rotated/, 'the dump has everything in it');
    const everywhere = [...Object.values(SECRETS), made];
    for (const secret of [...everywhere, scene.token]) mustNotHold({ answers: answersBefore.join('\n') }, secret);
    for (const secret of [...everywhere, writeKey?.key ?? '', scene.token]) {
      mustNotHold({ log: scene.logged.join(''), bucket: bucket.join('\n'), dump }, secret);
    }
  });
});

/** Neither as it is nor in the forms in which a dump or an entry would hold it unsealed. */
function mustNotHold(places: Record<string, string>, secret: string): void {
  const bytes = Buffer.from(secret);
  const forms = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    bytes.toString('hex'),
    bytes.toString('base64').slice(0, -4),
  ];
  for (const [place, text] of Object.entries(places)) {
    assert.ok(text.length > 0, `${place} is empty`);
    for (const form of forms) assert.ok(!text.includes(form), `${place} holds ${form}`);
  }
}

async function openScene() {
  await using opening = new AsyncDisposableStack();
  const postgres = opening.use(await startMigratedPostgres());
  const cluster = opening.use(await startNatsCluster());
  const store = opening.use(await openStore(postgres.serviceUrl));
  const { log, logged } = keepingLog();
  const stream = opening.use(await openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, log }));
  const keyRing = openKeyRing(new Map([[1, randomBytes(32)]]));
  const needs = {
    ...QUIET_NEEDS,
    store,
    keyRing,
    now: () => new Date(),
    log,
  };
  const listening = { host: '127.0.0.1', port: 0, maxConnections: 100, trustedProxies: [] };
  const { port } = opening.use(await serveControl(listening, needs));
  const token = await addToken(store, await addWorkspace(store), { role: 'owner' });
  const answers: string[] = [];
  const ask = async (...[method, path, body, idempotencyKey]: [string, string, body?: unknown, key?: string]) => {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` };
    const key = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
    const init = {
      method,
      headers: { ...headers, ...key },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, init);
    answers.push(await answer.text());
    return JSON.parse(answers.at(-1) ?? '') as Record<string, unknown>;
  };
  const configWriter = await stream.configWriter();
  const opened = opening.move();
  const dispose = () => opened.disposeAsync();
  return { postgres, store, configWriter, keyRing, log, logged, answers, ask, token, [Symbol.asyncDispose]: dispose };
}

/** Everything that the service would ever log, at its most talkative. */
function keepingLog() {
  const logged: string[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logged.push(chunk.toString());
      done();
    },
  });
  return { log: pino({ level: 'trace', base: null }, sink), logged };
}
