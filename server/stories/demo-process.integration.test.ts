/** `npm run dev -- --demo` as a process, from its start to Ctrl-C. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { ROOT_DIR, startNatsCluster } from '@millrace/engines';
import { startMigratedPostgres } from '../testing/migrated-postgres.ts';
import { DEMO_TOKEN } from '../src/secrets/demo-secrets.ts';
import { stackSettings } from '../testing/stack.ts';
import { until } from '../testing/until.ts';

const PROGRAM = join(ROOT_DIR, 'server/src/demo/dev.ts');
/** A busy machine must not fail a wait. */
const PATIENCE_MS = 90_000;

/** The demo brings its own token, keys and networks. */
const OWN = new Set(['MILLRACE_BOOTSTRAP_TOKEN', 'MILLRACE_KEYS', 'MILLRACE_ALLOW_CIDRS']);

/** Without the settings of the shell that runs the tests; modules are compiled once for all starts. */
function environment(settings: Record<string, string>): NodeJS.ProcessEnv {
  const others = Object.entries(settings).filter(([name]) => !OWN.has(name));
  const cache = { NODE_COMPILE_CACHE: join(tmpdir(), 'millrace-compile-cache') };
  return { ...cache, ...Object.fromEntries(others), MILLRACE_METRICS_PORT: '0' };
}

async function runDemo(env: NodeJS.ProcessEnv) {
  const server = spawn(process.execPath, [PROGRAM, '--demo', '--seed=5'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(server, 'exit') as Promise<[code: number | null, signal: string | null]>;
  let said = '';
  for (const output of [server.stdout, server.stderr]) output.on('data', (chunk) => (said += String(chunk)));
  const isOver = () => server.exitCode !== null || server.signalCode !== null;
  await until(
    () => isOver() || said.includes('Ctrl-C stops'),
    PATIENCE_MS,
    () => said,
  );
  return {
    said,
    url: /Sign in on (\S+)/.exec(said)?.[1] ?? '',
    async stop() {
      server.kill('SIGINT');
      const patience = setTimeout(() => server.kill('SIGKILL'), PATIENCE_MS);
      const [code] = await ended;
      clearTimeout(patience);
      return code;
    },
    [Symbol.dispose]: () => void (isOver() || server.kill('SIGKILL')),
  };
}

/** Without the source that Millrace makes when it first tells of an audience. */
async function countOf(url: string, path: string): Promise<number> {
  const answer = await fetch(`${url}/api/v1/${path}`, { headers: { Authorization: `Bearer ${DEMO_TOKEN}` } });
  const { items } = (await answer.json()) as { items: { kind?: string }[] };
  return items.filter(({ kind }) => kind !== 'computed').length;
}

suite('npm run dev -- --demo', () => {
  test('prints an account that works, ends with Ctrl-C, and goes on with the same shop at its next start', async () => {
    await using nats = await startNatsCluster({ nodes: 1 });
    await using postgres = await startMigratedPostgres();
    const env = environment(stackSettings(nats.url, postgres));
    {
      using demo = await runDemo(env);
      const [, email, password] = /email +(\S+)\s+password +(\S+)/.exec(demo.said) ?? [];
      assert.ok(email !== undefined, demo.said);
      const headers = { 'Content-Type': 'application/json' };
      const body = JSON.stringify({ email, password });
      assert.equal((await fetch(`${demo.url}/api/v1/session`, { method: 'POST', headers, body })).status, 204);
      assert.equal(await demo.stop(), 0);
    }
    using again = await runDemo(env);
    assert.equal(await countOf(again.url, 'sources'), 3, again.said);
    assert.equal(await countOf(again.url, 'destinations'), 6);
    assert.equal(await countOf(again.url, 'replays'), 1);
    assert.equal(await again.stop(), 0);
  });

  test('refuses flags that it does not understand, before it starts anything', () => {
    for (const [flag, says] of [
      ['--calls-per-second=many', /--calls-per-second must be a number/],
      ['--deno', /Unknown option '--deno'/],
    ] as const) {
      const { status, stderr } = spawnSync(process.execPath, [PROGRAM, '--demo', flag], {
        encoding: 'utf8',
        env: environment({}),
      });
      assert.equal(status, 1, flag);
      assert.match(stderr, says);
    }
  });
});
