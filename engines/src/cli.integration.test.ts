import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { ENGINES_DIR, natsServerBinary, ROOT_DIR } from './paths.ts';

suite('scripts/engines', () => {
  test('starts, is safe to repeat, describes itself, stops everything; and two checkouts run side by side', async () => {
    using one = checkout();
    using two = checkout();
    one.run('up');
    two.run('up', '--nodes', '3');
    assert.equal(one.run('up'), one.run('status'), 'a second up changes nothing');
    assert.match(two.run('status'), /n1 {2}running.*n2 {2}running.*n3 {2}running.*postgres running/s);

    const [oneEnv, twoEnv] = [one.run('env'), two.run('env')];
    const ports = [...portsIn(oneEnv), ...portsIn(twoEnv)];
    assert.equal(new Set(ports).size, 6, 'four NATS servers and two PostgreSQL servers');
    for (const port of ports) await accepts(port);

    one.run('down');
    assert.match(one.run('status'), /n1 {2}stopped.*postgres stopped/s);
    for (const port of portsIn(twoEnv)) await accepts(port);
    two.run('down', '--wipe');
    for (const port of ports) await assert.rejects(accepts(port), /ECONNREFUSED/);
  });

  test('says how to use it', () => {
    using one = checkout();
    assert.throws(() => one.run('dance'), /usage: scripts\/engines/);
  });
});

/** A checkout of its own, with what has already been fetched, and without any package: engines come before `npm ci`. */
function checkout() {
  natsServerBinary();
  const dir = mkdtempSync(join(tmpdir(), 'millrace-checkout-'));
  for (const part of ['engines', 'scripts', '.node-version', 'server/package.json', 'server/src/stream'])
    cpSync(join(ROOT_DIR, part), join(dir, part), { recursive: true });
  mkdirSync(join(dir, '.engines'));
  for (const part of ['bin', 'node']) symlinkSync(join(ENGINES_DIR, part), join(dir, '.engines', part));
  const run = (...args: string[]) => {
    const done = spawnSync(join(dir, 'scripts/engines'), args, { encoding: 'utf8' });
    if (done.status !== 0) throw new Error(done.stderr);
    return done.stdout;
  };
  return {
    run,
    [Symbol.dispose]() {
      run('down', '--wipe');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function portsIn(env: string): number[] {
  return [...env.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port));
}

function accepts(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
  });
}
