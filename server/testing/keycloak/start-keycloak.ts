/** A real Keycloak in a process of its own, with the realm of realm.json. `npm run keycloak` gets it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, ROOT_DIR } from '@millrace/engines';
import type { TestProvider } from '../oidc-provider.ts';
import { until } from '../until.ts';
import { type Administrator, openAdministrator } from './administrator.ts';

export type Keycloak = Pick<TestProvider, 'issuer' | 'setClients'> & AsyncDisposable & { admin: Administrator };

const PLACE = join(ROOT_DIR, '.runs/keycloak');
const PASSWORD = 'the password of the administrator';
/** Java compiles at its start, with one core for it if the machine is busy. */
const STARTS_WITHIN_MS = 300_000;

export async function startKeycloak(): Promise<Keycloak> {
  const program = join(PLACE, 'bin/kc.sh');
  if (!existsSync(join(PLACE, 'stamp'))) {
    throw new Error(`${program} is missing: run \`bash server/testing/keycloak/get-keycloak\` first`);
  }
  await using starting = new AsyncDisposableStack();
  const [port = 0, managementPort = 0] = await freePorts(2);
  const dir = mkdtempSync(join(tmpdir(), 'millrace-keycloak-'));
  starting.defer(() => rmSync(dir, { recursive: true, force: true }));
  const server = spawn(program, ['start', '--optimized', ...options(port, managementPort)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: dir,
    // A group of its own, with Java below the shell of kc.sh: a signal has to reach both.
    detached: true,
  });
  starting.defer(() => stop(server));
  await whenReady(server, `http://127.0.0.1:${managementPort}/health/ready`);
  const keycloak = await connectKeycloak(`http://127.0.0.1:${port}`, PASSWORD);
  const running = starting.move();
  return { ...keycloak, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function options(port: number, managementPort: number): string[] {
  const host = '127.0.0.1';
  return [
    `--http-host=${host}`,
    `--http-port=${port}`,
    `--http-management-host=${host}`,
    `--http-management-port=${managementPort}`,
    '--http-enabled=true',
    '--hostname-strict=false',
    '--cache=local',
    '--bootstrap-admin-username=admin',
    `--bootstrap-admin-password=${PASSWORD}`,
  ];
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, 'exit');
  killGroup(server);
  await gone;
}

function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL');
}

async function whenReady(server: ChildProcess, url: string): Promise<void> {
  let said = '';
  for (const stream of [server.stdout, server.stderr]) stream?.on('data', (piece) => (said += String(piece)));
  const stopWithUs = () => killGroup(server);
  process.once('exit', stopWithUs);
  server.once('exit', () => process.removeListener('exit', stopWithUs));
  const isReady = async () => {
    if (server.exitCode !== null) throw new Error(`Keycloak ended: ${said}`);
    return fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
  };
  await until(isReady, STARTS_WITHIN_MS, () => `Keycloak is ready; it said: ${said}`);
}

type Realm = { realm: string; clients: [Record<string, unknown> & { attributes: object }] };

/** Makes the realm. A client of a test is the one of realm.json with an id, a secret and addresses of its own. */
export async function connectKeycloak(
  url: string,
  password: string,
): Promise<Omit<Keycloak, typeof Symbol.asyncDispose>> {
  const realm = JSON.parse(readFileSync(join(import.meta.dirname, 'realm.json'), 'utf8')) as Realm;
  const admin = await openAdministrator(url, { realm: realm.realm, password });
  await admin.makeRealm(realm);
  const [pattern] = realm.clients;
  return {
    issuer: `${url}/realms/${realm.realm}`,
    admin,
    async setClients(clients) {
      for (const { id, secret, redirectUris, signedOutUris } of clients) {
        if ((await admin.clientNamed(id)) !== undefined) continue;
        const attributes = { ...pattern.attributes, 'post.logout.redirect.uris': signedOutUris.join('##') };
        await admin.ask('POST', '/clients', { ...pattern, clientId: id, secret, redirectUris, attributes });
      }
    },
  };
}
