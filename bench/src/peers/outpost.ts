import { join } from 'node:path';
import { freePorts } from '@millrace/engines';
import { answers, child, output, programText } from './child.ts';
import { engineText, openRabbit, openRedis, RABBITMQ, REDIS } from './peer-engines.ts';
import { type Api, ask, openPeerScene } from './peer-scene.ts';
import { indexes, kindOf, type RunningSystem, type System } from './system.ts';

const BIN = process.env['PEERS_OUTPOST_BIN'];
/** Its command line, which migrates. */
const CLI = process.env['PEERS_OUTPOST_CLI'];
/** As in its compose example. */
const REDIS_OPTIONS = ['--save', '20', '1'];

/** hookdeck/outpost: all services in one process, Redis, RabbitMQ, PostgreSQL as log store. */
export function outpost(slots: number): System {
  const missing = BIN === undefined ? 'PEERS_OUTPOST_BIN' : CLI === undefined ? 'PEERS_OUTPOST_CLI' : undefined;
  return {
    name: 'Outpost',
    slots,
    missing,
    about: () =>
      BIN === undefined
        ? []
        : [
            programText('PEERS_OUTPOST_BIN', BIN),
            `${engineText(REDIS)} ${REDIS_OPTIONS.join(' ')}; ${RABBITMQ}`,
            `DELIVERY_MAX_CONCURRENCY=${slots} (its default is 1) LOG_MAX_CONCURRENCY=10 PUBLISH_MAX_CONCURRENCY=10`,
          ],
    open: (urlOf) => openOutpost(slots, (index) => urlOf(index, kindOf(index))),
  };
}

async function openOutpost(slots: number, urlOf: (index: number) => string): Promise<RunningSystem> {
  await using opening = new AsyncDisposableStack();
  const scene = opening.use(await openPeerScene('outpost'));
  const redis = scene.use(await openRedis(scene.dir, REDIS_OPTIONS));
  const rabbit = scene.use(await openRabbit(scene.dir));
  const [port = 0] = await freePorts(1);
  const api: Api = { url: `http://127.0.0.1:${port}/api/v1`, token: 'bench-api-key' };
  const engines = { redis: redis.port, rabbit: rabbit.port, databaseUrl: scene.databaseUrl };
  const env = { ...environment(engines), API_PORT: String(port), DELIVERY_MAX_CONCURRENCY: String(slots) };
  const dir = join(scene.dir, 'server');
  const isReady = () => answers(`http://127.0.0.1:${port}/healthz`);
  const server = scene.use(child({ name: 'server', command: BIN ?? '', env, dir, isReady }));
  output(CLI ?? '', ['migrate', 'apply', '--yes'], env, dir);
  await server.start();
  for (const index of indexes()) {
    await ask(api, 'PUT', `/tenants/t${index}`, {});
    const destination = { type: 'webhook', topics: ['*'], config: { url: urlOf(index) } };
    await ask(api, 'POST', `/tenants/t${index}/destinations`, destination);
  }
  const headers = { Authorization: `Bearer ${api.token}` };
  const open = opening.move();
  return {
    endpoints: indexes().map((index) => ({
      kind: kindOf(index),
      one: (event, id) => ({
        url: `${api.url}/publish`,
        headers,
        body: `{"id":"${id}","tenant_id":"t${index}","topic":"order","data":${event}}`,
      }),
    })),
    pids: scene.pids,
    queue: { name: 'RabbitMQ', kill: rabbit.kill, start: rabbit.start },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

type Engines = { redis: number; rabbit: number; databaseUrl: string };

function environment({ redis, rabbit, databaseUrl }: Engines): Record<string, string> {
  return {
    API_KEY: 'bench-api-key',
    API_JWT_SECRET: 'bench-jwt',
    AES_ENCRYPTION_SECRET: '0123456789abcdef0123456789abcdef',
    TOPICS: 'order',
    REDIS_HOST: '127.0.0.1',
    REDIS_PORT: String(redis),
    REDIS_PASSWORD: '',
    REDIS_DATABASE: '0',
    POSTGRES_URL: `${databaseUrl}?sslmode=disable`,
    RABBITMQ_SERVER_URL: `amqp://guest:guest@127.0.0.1:${rabbit}`,
    DISABLE_TELEMETRY: 'true',
    LOG_LEVEL: 'warn',
    GIN_MODE: 'release',
    LOG_MAX_CONCURRENCY: '10',
    PUBLISH_MAX_CONCURRENCY: '10',
    SERVICE: '',
  };
}
