/** Each way in which `millrace dev` cannot start ends in a sentence of what happened and a sentence of what to do, and leaves nothing. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { freePorts } from '@millrace/engines';
import { gotten } from '../run-client.ts';
import { serve } from '../serve.ts';
import { processesWith, runToEnd, startDev } from './dev-process.ts';
import { type Installed, installPacked, ownFolder } from './install-packed.ts';

let installed: Installed;
let node: string;
let millrace: string;
/** The usual ports belong to the tests of a plain start, which may run beside these. */
let ports: string[];
before(async () => {
  const [collect, console] = await freePorts(2);
  ports = ['--collect-port', String(collect), '--console-port', String(console)];
  installed = installPacked();
  node = join(installed.dir, 'bin/node');
  millrace = join(installed.appDir, 'node_modules/millrace/bin/millrace.cjs');
});
after(() => installed[Symbol.dispose]());

/** Runs `millrace dev`, which must fail with these words, without a stack trace. */
async function mustFail(args: readonly string[], expected: RegExp, env = {}): Promise<void> {
  const { code, stdout, stderr } = await runToEnd(installed, [node, millrace, 'dev', '--json', ...ports, ...args], env);
  assert.match(stderr, expected);
  assert.doesNotMatch(stderr, /\n\s+at /);
  assert.equal(stdout, '');
  assert.equal(code, 1);
  assert.deepEqual(processesWith(join(installed.dir, 'home')), []);
}

test('a port that is asked for and taken', async () => {
  await using taken = await serve(async (_request, response) => void response.end());
  const { port } = new URL(taken.url);
  const data = join(installed.dir, 'home/port');
  await mustFail(['--data', data, '--console-port', port], /Port \d+ is taken by another program\.\n.*--console-port/);
});

test('a home that cannot be written', async () => {
  const home = join(installed.dir, 'read-only');
  mkdirSync(home);
  chmodSync(home, 0o555);
  await mustFail([], /cannot write into .*read-only.*\n.*--data DIR/, { HOME: home });
});

test('a disk that is full', async () => {
  const disk = ownFolder(join(installed.dir, 'home/small-disk'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=777', 'none', disk]);
  try {
    await mustFail(['--data', join(disk, 'data')], /The disk of .* is full: \d+ MB are free.*\n.*--data DIR/);
  } finally {
    execFileSync('umount', [disk]);
  }
});

test('a Node that is too old', async () => {
  const old = join(installed.dir, 'node-20');
  copyFileSync(gotten('node-20/bin/node'), old);
  const { code, stderr } = await runToEnd(installed, [old, millrace, 'dev']);
  assert.match(stderr, /^millrace: This is Node 20\.\S+, and Millrace needs 22\.19 or newer\.\nInstall Node 24 .*\n$/);
  assert.equal(code, 1);
});

test('an engine whose package was left out', async () => {
  const packages = join(installed.appDir, 'node_modules/@millrace');
  renameSync(packages, `${packages}-away`);
  try {
    await mustFail(
      [],
      /There is no nats-server: the package @millrace\/nats-\S+ is not installed.*\n.*--omit=optional/,
    );
  } finally {
    renameSync(`${packages}-away`, packages);
  }
});

test('--wipe of a folder with files of somebody else', async () => {
  const data = ownFolder(join(installed.dir, 'home/photos'));
  writeFileSync(join(data, 'cat.jpg'), 'meow');
  await mustFail(['--data', data, '--wipe'], /holds other files, so --wipe leaves it alone\.\n/);
  assert.equal(readFileSync(join(data, 'cat.jpg'), 'utf8'), 'meow');
});

suite('a data folder', () => {
  const data = () => join(installed.dir, 'home/used');
  const stateFile = () => join(data(), 'dev.json');
  const changeState = (change: (text: string) => string) => {
    writeFileSync(stateFile(), change(readFileSync(stateFile(), 'utf8')));
  };
  before(async () => {
    await using _ = await startDev(installed, [...ports, '--no-shop', '--data', data()], [node, millrace]);
  });

  test('of another database', async () => {
    const expected = /is that of postgresql, not of pglite\.\n.*--wipe/;
    await mustFail(['--data', data(), '--pglite'], expected);
  });

  test('of a newer version', async () => {
    changeState((text) => text.replace(/"version": "[^"]+"/, '"version": "99.0.0"'));
    await mustFail(['--data', data()], /is of Millrace 99\.0\.0, and this is .*\n.*npx millrace@99\.0\.0 dev/);
  });

  test('whose state is damaged', async () => {
    changeState((text) => text.slice(0, 40));
    await mustFail(['--data', data()], /dev\.json cannot be read: it is not JSON\.\n.*--wipe/);
  });

  test('begins anew with --wipe', async () => {
    const before = readFileSync(stateFile(), 'utf8');
    await using dev = await startDev(installed, [...ports, '--no-shop', '--wipe', '--data', data()], [node, millrace]);
    assert.ok(!before.includes(dev.ready.token));
  });
});
