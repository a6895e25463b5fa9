import { hostname } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '@millrace/engines';
import { answers, type Child, child, output, programText } from './child.ts';
import { engineText, openRedis, REDIS } from './peer-engines.ts';
import { type Api, ask, openPeerScene } from './peer-scene.ts';
import { indexes, kindOf, type RunningSystem, type System } from './system.ts';

const BIN = process.env['PEERS_CONVOY_BIN'];
/** Convoy refuses loopback addresses as endpoints; a name that resolves to one passes. */
const RECEIVER_HOST = process.env['PEERS_CONVOY_RECEIVER_HOST'] ?? hostname();

type Bootstrap = { api_key: string; organisation_id: string };

/** frain-dev/convoy, community edition: server and agent, PostgreSQL, Redis with its own default persistence. */
export function convoy(slots: number): System {
  return {
    name: 'Convoy',
    slots,
    missing: BIN === undefined ? 'PEERS_CONVOY_BIN' : undefined,
    about: () =>
      BIN === undefined
        ? []
        : [
            programText('PEERS_CONVOY_BIN', BIN),
            engineText(REDIS),
            `CONVOY_ENV=oss CONVOY_CONSUMER_POOL_SIZE=${slots}`,
          ],
    open: (urlOf) => openConvoy(slots, (index) => urlOf(index, kindOf(index)).replace('127.0.0.1', RECEIVER_HOST)),
  };
}

async function openConvoy(slots: number, urlOf: (index: number) => string): Promise<RunningSystem> {
  await using opening = new AsyncDisposableStack();
  const scene = opening.use(await openPeerScene('convoy'));
  const redis = scene.use(await openRedis(scene.dir, []));
  const [port = 0, agentPort = 0] = await freePorts(2);
  const env = convoyEnvironment({ databaseUrl: scene.databaseUrl, redisPort: redis.port, port, agentPort, slots });
  const dir = join(scene.dir, 'server');
  const program = (name: string, at: number): Child => {
    const isReady = () => answers(`http://127.0.0.1:${at}/health`);
    return scene.use(child({ name, command: BIN ?? '', args: [name], env, dir, isReady }));
  };
  const [server, agent] = [program('server', port), program('agent', agentPort)];
  const bootstrap = prepare(env, dir);
  await server.start();
  await agent.start();
  const api: Api = { url: `http://127.0.0.1:${port}/api/v1`, token: bootstrap.api_key };
  const path = await addProject(api, bootstrap.organisation_id);
  const ids: string[] = [];
  for (const index of indexes()) ids.push(await addEndpoint(api, path, index, urlOf(index)));
  const headers = { Authorization: `Bearer ${api.token}` };
  const open = opening.move();
  return {
    endpoints: ids.map((id, index) => ({
      kind: kindOf(index),
      one: (event) => ({
        url: `${api.url}${path}/events`,
        headers,
        body: `{"endpoint_id":"${id}","event_type":"order","data":${event}}`,
      }),
    })),
    pids: scene.pids,
    queue: { name: 'Redis', kill: redis.kill, start: redis.start },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Before the first start, which makes a superuser: the community edition has room for one user. */
function prepare(env: Record<string, string>, dir: string): Bootstrap {
  output(BIN ?? '', ['migrate', 'up'], env, dir);
  const flags = ['--email', 'bench@example.com', '--with-api-key', '--format', 'json'];
  const said = output(BIN ?? '', ['bootstrap', ...flags], env, dir);
  return JSON.parse(/^\{$[^]*?^\}$/m.exec(said)?.[0] ?? '{}') as Bootstrap;
}

async function addProject(api: Api, organisation: string): Promise<string> {
  const ssl = { enforce_secure_endpoints: false };
  const settings = { name: 'bench', type: 'outgoing', config: { SSL: ssl, ssl } };
  type Made = { data: { project: { uid: string } } };
  const { data } = await ask<Made>(api, 'POST', `/projects?orgID=${organisation}`, settings);
  return `/projects/${data.project.uid}`;
}

async function addEndpoint(api: Api, path: string, index: number, url: string): Promise<string> {
  const endpoint = { name: `e${index}`, url, owner_id: `o${index}` };
  const { data } = await ask<{ data: { uid: string } }>(api, 'POST', `${path}/endpoints`, endpoint);
  await ask(api, 'POST', `${path}/subscriptions`, { name: `s${index}`, endpoint_id: data.uid });
  return data.uid;
}

type Places = { databaseUrl: string; redisPort: number; port: number; agentPort: number; slots: number };

export function convoyEnvironment({ databaseUrl, redisPort, port, agentPort, slots }: Places): Record<string, string> {
  return {
    CONVOY_CONSUMER_POOL_SIZE: String(slots),
    CONVOY_DB_HOST: '127.0.0.1',
    CONVOY_DB_PORT: new URL(databaseUrl).port,
    CONVOY_DB_USERNAME: 'postgres',
    CONVOY_DB_PASSWORD: 'x',
    CONVOY_DB_DATABASE: 'convoy',
    CONVOY_DB_OPTIONS: 'sslmode=disable&connect_timeout=30',
    CONVOY_REDIS_HOST: '127.0.0.1',
    CONVOY_REDIS_PORT: String(redisPort),
    CONVOY_REDIS_SCHEME: 'redis',
    CONVOY_ENV: 'oss',
    CONVOY_HOST: `127.0.0.1:${port}`,
    PORT: String(port),
    AGENT_PORT: String(agentPort),
    CONVOY_JWT_SECRET: 'bench',
    CONVOY_JWT_REFRESH_SECRET: 'bench2',
    CONVOY_ANALYTICS_ENABLED: 'false',
    CONVOY_LOGGER_LEVEL: 'error',
    // Nothing of this bench may leave the machine.
    CONVOY_LICENSE_SERVICE_HOST: 'http://127.0.0.1:9',
    CONVOY_SSO_SERVICE_HOST: 'http://127.0.0.1:9',
    CONVOY_NATIVE_REALM_ENABLED: 'true',
    CONVOY_JWT_REALM_ENABLED: 'true',
    CONVOY_METRICS_ENABLED: 'false',
  };
}
