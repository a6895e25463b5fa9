/** The real stack with the console on it: engines, all roles in one process, Chromium. One stage serves all tests of a file. */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { freePorts, ROOT_DIR, startNatsCluster, startPostgresServer } from '@millrace/engines';
import { startServerProcess } from '../server-process.ts';
import { waitFor } from './wait-for.ts';

export type Account = { email: string; password: string };

export type Stage = AsyncDisposable & {
  /** Of the console; a browser keeps our cookie on localhost only. */
  url: string;
  collectUrl: string;
  /** Everything that the server has printed and logged since its last start. */
  said(): string;
  /** Ends the process and starts it again with the same data, and these settings beside those that it had. */
  restart(changed?: Record<string, string>): Promise<void>;
  postgres: {
    stop(): void;
    start(): void;
    /** As the superuser: for amounts of data that would take hours over the API. */
    run(sql: string): string;
  };
};

/** The demo shop runs, and these may sign in. */
export type DemoStage = Stage & {
  accounts: Record<'owner' | 'admin' | 'developer' | 'viewer', Account>;
  token: string;
};

type StageOptions = { program: 'main.ts' | 'demo/dev.ts'; args?: string[]; settings?: Record<string, string> };

const DEMO_PASSWORD = 'fernhill-demo-password';
/** The demo sets up its shop after the server is ready. */
const DEMO_WITHIN_MS = 120_000;

/** A new installation without an owner; `setupPath` opens its first screen. */
export async function openNewStage(): Promise<Stage & { setupPath: string }> {
  const settings = { MILLRACE_KEYS: `1:${randomBytes(32).toString('base64')}` };
  const stage = await openStage({ program: 'main.ts', settings });
  const [, setupPath = ''] = /(\/setup#token=[\w-]+)/.exec(stage.said()) ?? [];
  return { ...stage, setupPath };
}

export async function openDemoStage(callsPerSecond = 3): Promise<DemoStage> {
  const stage = await openStage({ program: 'demo/dev.ts', args: ['--demo', `--calls-per-second=${callsPerSecond}`] });
  await waitFor('the demo shop is there', () => stage.said().includes('API token'), DEMO_WITHIN_MS);
  const account = (name: string) => ({ email: `${name}@fernhill.example`, password: DEMO_PASSWORD });
  const accounts = {
    owner: account('mara'),
    admin: account('jonas'),
    developer: account('priya'),
    viewer: account('tom'),
  };
  const [, token = ''] = /API token\s+(\S+)/.exec(stage.said()) ?? [];
  return { ...stage, accounts, token };
}

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
async function openStage({ program, args = [], settings = {} }: StageOptions): Promise<Stage> {
  const page = join(ROOT_DIR, 'console/dist/index.html');
  if (!existsSync(page)) throw new Error('the console is not built: run `npm run build` first');
  await using parts = new AsyncDisposableStack();
  const [nats, postgres, ports] = await Promise.all([
    startNatsCluster({ nodes: 1 }).then((started) => parts.use(started)),
    startPostgresServer().then((started) => parts.use(started)),
    freePorts(3),
  ]);
  const [collectPort = '', controlPort = '', metricsPort = ''] = ports.map(String);
  const [collectUrl = '', url = ''] = [collectPort, controlPort].map((port) => `http://localhost:${port}`);
  const all = {
    MILLRACE_HOST: '127.0.0.1',
    MILLRACE_COLLECT_PORT: collectPort,
    MILLRACE_CONTROL_PORT: controlPort,
    MILLRACE_METRICS_PORT: metricsPort,
    MILLRACE_NATS_URL: nats.url,
    MILLRACE_DATABASE_URL: postgres.serviceUrl,
    MILLRACE_MIGRATION_DATABASE_URL: postgres.url,
    MILLRACE_ALLOW_CIDRS: '127.0.0.0/8',
    MILLRACE_DRAIN_MS: '0',
    // Passkeys are bound to it.
    MILLRACE_CONSOLE_URL: url,
    ...settings,
  };
  const start = (changed: Record<string, string>) =>
    startServerProcess({ program, args, settings: { ...all, ...changed }, urls: [url, collectUrl] });
  let server = await start({});
  parts.defer(() => server[Symbol.asyncDispose]());
  const kept = parts.move();
  return {
    url,
    collectUrl,
    said: () => server.said(),
    async restart(changed = {}) {
      await server[Symbol.asyncDispose]();
      server = await start(changed);
    },
    postgres: { stop: () => postgres.stop('fast'), start: () => postgres.start(), run: (sql) => postgres.run(sql) },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
