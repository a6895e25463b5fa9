/**
 * Plays a compose project with real servers but without containers: each service runs with the configuration, the secrets and the
 * environment that its compose file gives it. Only addresses differ, because here all services share one machine.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { freePorts, startPostgresServer } from '@millrace/engines';
import { pino } from 'pino';
import { readConfig } from '../../server/src/config.ts';
import { type Running, startRoles } from '../../server/src/start-roles.ts';
import { overHttp, stackSettings } from '../../server/testing/stack.ts';
import { type Mount, openProject, type Service } from './compose-project.ts';
import { startNatsServer } from './nats-server.ts';

export type Line = { msg: string; service: string; error?: string };
/** Replaces names of services and their ports by addresses of this machine. */
type Translate = (text: string, own?: string) => string;

export type Played = AsyncDisposable & {
  path: string;
  services: Record<string, Running>;
  lines: Line[];
  http: ReturnType<typeof overHttp>;
  httpOf(collect: string, control: string): ReturnType<typeof overHttp>;
};

export async function playCompose(...args: string[]): Promise<Played> {
  await using opening = new AsyncDisposableStack();
  const project = opening.use(openProject(...args));
  const dir = mkdtempSync(join(tmpdir(), 'millrace-compose-'));
  opening.defer(() => rmSync(dir, { recursive: true, force: true }));
  const postgres = opening.use(await startPostgresServer());
  const named = Object.entries(project.services);
  const natsNames = named.map(([name]) => name).filter((name) => name.startsWith('nats'));
  const translate = await translator(natsNames, new URL(postgres.adminUrl).port);
  const secretFile = (name: string) => project.secrets[name]?.file ?? '';
  await Promise.all(
    natsNames.map(async (name) => {
      const service = project.services[name];
      if (service === undefined) throw new Error(name);
      opening.use(await startNats(name, service, { dir, secretFile, translate }));
    }),
  );
  createLogins(postgres, join(project.path, 'compose'), dir);
  const lines: Line[] = [];
  const play = async ([name, service]: [string, Service]): Promise<[string, Running]> => {
    const write = (line: string) => void lines.push({ ...(JSON.parse(line) as Line), service: name });
    const env = environmentOf(name, service, { dir, secretFile, translate });
    const read = readConfig(env);
    if (!read.ok) throw new Error(`${name}: ${read.problems.join(', ')}`);
    return [name, await startRoles(read.value, pino({ level: 'info' }, { write }))];
  };
  const ours = named.filter(([, { environment = {} }]) => environment['MILLRACE_ROLES'] !== undefined);
  const services = Object.fromEntries(await Promise.all(ours.map(play)));
  // All at once, because each goes on answering for a while after it was asked to stop.
  opening.defer(async () => void (await Promise.all(Object.values(services).map((one) => one[Symbol.asyncDispose]()))));
  const httpOf = (collect: string, control: string) =>
    overHttp({
      collectUrl: () => `http://127.0.0.1:${services[collect]?.collectPort}`,
      controlUrl: () => `http://127.0.0.1:${services[control]?.control?.port}`,
    });
  const isLarge = 'collect-1' in services;
  const http = isLarge ? httpOf('collect-1', 'control-1') : httpOf('millrace', 'millrace');
  const open = opening.move();
  return { path: project.path, services, lines, http, httpOf, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

async function translator(natsNames: string[], postgresPort: string): Promise<Translate> {
  const ports = await freePorts(natsNames.length * 2);
  const routeOf = (name: string) => ports[natsNames.length + natsNames.indexOf(name)] ?? 0;
  return (text, own) => {
    let translated = text.replaceAll('postgres:5432', `127.0.0.1:${postgresPort}`);
    for (const [i, name] of natsNames.entries()) {
      translated = translated.replaceAll(`@${name}:4222`, `@127.0.0.1:${ports[i]}`);
      translated = translated.replaceAll(`@${name}:6222`, `@127.0.0.1:${routeOf(name)}`);
    }
    if (own === undefined) return translated;
    const client = `127.0.0.1:${ports[natsNames.indexOf(own)]}`;
    return translated.replace('0.0.0.0:6222', `127.0.0.1:${routeOf(own)}`).replace('0.0.0.0:4222', client);
  };
}

type Place = { dir: string; secretFile(name: string): string; translate: Translate };

/** The files of the container in one folder, where the includes of nats.conf find them. */
async function startNats(name: string, service: Service, { dir, secretFile, translate }: Place) {
  const home = join(dir, name);
  const [monitorPort = 0] = await freePorts(1);
  mkdirSync(home);
  const mounts: Pick<Mount, 'source' | 'target'>[] = [
    ...(service.volumes ?? []).filter(({ type }) => type === 'bind'),
    ...(service.secrets ?? []).map(({ source, target = '' }) => ({ source: secretFile(source), target })),
  ];
  for (const { source, target } of mounts) {
    const text = translate(readFileSync(source, 'utf8'), name).replace('127.0.0.1:8222', `127.0.0.1:${monitorPort}`);
    writeFileSync(join(home, basename(target)), text.replace('"/data"', `"${join(home, 'data')}"`));
  }
  const env = { ...service.environment, NATS_MAX_FILE_STORE: '4GB' };
  return startNatsServer({ name, configFile: join(home, 'nats.conf'), monitorPort, env });
}

type Postgres = Awaited<ReturnType<typeof startPostgresServer>>;

/** The server as its container has it: passwords are asked for, and the logins are those that create-logins.sh makes. */
function createLogins(postgres: Postgres, composeDir: string, dir: string): void {
  const hba = join(dir, 'pg_hba.conf');
  writeFileSync(hba, 'host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n');
  chmodSync(dir, 0o755);
  postgres.run('ALTER DATABASE postgres OWNER TO postgres');
  postgres.run('DROP ROLE millrace, millrace_owner, millrace_app');
  postgres.run(`ALTER SYSTEM SET hba_file = '${hba}'`);
  postgres.stop('fast');
  postgres.start();
  const { hostname, port } = new URL(postgres.adminUrl);
  const done = spawnSync('sh', [join(composeDir, 'postgres/create-logins.sh')], {
    env: {
      PATH: process.env['PATH'],
      PGHOST: hostname,
      PGPORT: port,
      POSTGRES_USER: 'postgres',
      SECRETS_DIR: join(composeDir, 'secrets'),
    },
    encoding: 'utf8',
  });
  if (done.status !== 0) throw new Error(`create-logins.sh: ${done.stderr}`);
}

/** The environment of the container, with a copy of its /run/secrets. The rest is for the test: free ports, a receiver on this machine. */
function environmentOf(name: string, service: Service, { dir, secretFile, translate }: Place): Record<string, string> {
  const secretsDir = join(dir, `${name}-secrets`);
  mkdirSync(secretsDir);
  for (const { source, target } of service.secrets ?? []) {
    const file = join(secretsDir, target ?? source);
    copyFileSync(secretFile(source), file);
    chmodSync(file, 0o600);
    writeFileSync(file, translate(readFileSync(file, 'utf8')));
  }
  const { MILLRACE_BOOTSTRAP_TOKEN = '' } = stackSettings('', { url: '', serviceUrl: '' });
  return {
    ...service.environment,
    MILLRACE_SECRETS_DIR: secretsDir,
    MILLRACE_HOST: '127.0.0.1',
    MILLRACE_COLLECT_PORT: '0',
    MILLRACE_CONTROL_PORT: '0',
    MILLRACE_METRICS_PORT: '0',
    MILLRACE_ALLOW_CIDRS: '127.0.0.0/8',
    ...(service.environment?.['MILLRACE_ROLES']?.includes('control') && { MILLRACE_BOOTSTRAP_TOKEN }),
  };
}
