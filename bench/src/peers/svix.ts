import { join } from 'node:path';
import { freePorts } from '@millrace/engines';
import { answers, child, output, programText } from './child.ts';
import { engineText, openRedis, REDIS } from './peer-engines.ts';
import { type Api, ask, openPeerScene } from './peer-scene.ts';
import { indexes, kindOf, type RunningSystem, type System } from './system.ts';

const BIN = process.env['PEERS_SVIX_BIN'];
/** As in its compose file. */
const REDIS_OPTIONS = ['--save', '60', '500', '--appendonly', 'yes', '--appendfsync', 'everysec'];

/** svix-server: API and worker in one process, PostgreSQL, Redis. */
export function svix(): System {
  return {
    name: 'Svix',
    slots: undefined,
    missing: BIN === undefined ? 'PEERS_SVIX_BIN' : undefined,
    about: () =>
      BIN === undefined
        ? []
        : [
            programText('PEERS_SVIX_BIN', BIN),
            `${engineText(REDIS)} ${REDIS_OPTIONS.join(' ')}`,
            'SVIX_QUEUE_TYPE=redis SVIX_CACHE_TYPE=memory',
          ],
    open: (urlOf) => openSvix((index) => urlOf(index, kindOf(index))),
  };
}

async function openSvix(urlOf: (index: number) => string): Promise<RunningSystem> {
  await using opening = new AsyncDisposableStack();
  const scene = opening.use(await openPeerScene('svix'));
  const redis = scene.use(await openRedis(scene.dir, REDIS_OPTIONS));
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}/api/v1`;
  const env = environment(port, redis.port, scene.databaseUrl);
  const dir = join(scene.dir, 'server');
  const server = scene.use(
    child({ name: 'server', command: BIN ?? '', env, dir, isReady: () => answers(`${url}/health/`) }),
  );
  output(BIN ?? '', ['migrate'], env, dir);
  await server.start();
  const token = /\S+$/.exec(output(BIN ?? '', ['jwt', 'generate'], env, dir))?.[0] ?? '';
  const api: Api = { url, token };
  for (const index of indexes()) {
    await ask(api, 'POST', '/app/', { name: `a${index}`, uid: `a${index}` });
    await ask(api, 'POST', `/app/a${index}/endpoint/`, { url: urlOf(index), version: 1 });
  }
  const headers = { Authorization: `Bearer ${token}` };
  const open = opening.move();
  return {
    endpoints: indexes().map((index) => ({
      kind: kindOf(index),
      one: (event, id) => ({
        url: `${url}/app/a${index}/msg/`,
        headers,
        body: `{"eventType":"order","eventId":"${id}","payload":${event}}`,
      }),
    })),
    pids: scene.pids,
    queue: { name: 'Redis', kill: redis.kill, start: redis.start },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function environment(port: number, redis: number, databaseUrl: string): Record<string, string> {
  return {
    SVIX_LISTEN_ADDRESS: `127.0.0.1:${port}`,
    SVIX_JWT_SECRET: 'bench-jwt-secret-0123456789',
    SVIX_MAIN_SECRET: 'bench-main-secret-0123456789abcdef',
    SVIX_DB_DSN: databaseUrl.replace('postgres://', 'postgresql://'),
    SVIX_REDIS_DSN: `redis://127.0.0.1:${redis}`,
    SVIX_QUEUE_TYPE: 'redis',
    SVIX_CACHE_TYPE: 'memory',
    SVIX_WHITELIST_SUBNETS: '["127.0.0.0/8"]',
    SVIX_LOG_LEVEL: 'info',
  };
}
