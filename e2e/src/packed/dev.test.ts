/** `npx millrace dev` on a machine with only Node: the first minute of a person who tries Millrace. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { type DevProcess, processesWith, startDev, until, untilShown } from './dev-process.ts';
import { type Installed, installPacked } from './install-packed.ts';

/**
 * The budgets of the project are 20 s to ready, 60 s to the first delivered event and 5 s for a second start, on a quiet machine. The
 * figures are printed; the assertions leave room for a machine that does other things as well.
 */
const BUSY = 6;

let installed: Installed;
let dataDir: string;
before(() => {
  installed = installPacked();
  dataDir = join(installed.dir, 'home/.millrace/dev');
});
after(() => installed[Symbol.dispose]());

test('an installation without scripts, Go, git or apt has the command and no TypeScript', () => {
  for (const program of ['go', 'git', 'apt-get']) {
    assert.ok(!readdirSync(join(installed.dir, 'bin')).includes(program));
  }
  const said = installed.run('npx', 'millrace', '--version');
  assert.match(said.stdout, /^\d+\.\d+\.\d+\n$/, said.stderr);
  const packageDir = join(installed.appDir, 'node_modules/millrace');
  const files = readdirSync(packageDir, { recursive: true, encoding: 'utf8' });
  assert.deepEqual(
    files.filter((name) => /\.[cm]?ts$/.test(name)),
    [],
  );
});

suite('the first start', () => {
  let dev: DevProcess;
  const messageId = randomUUID();
  before(async () => {
    dev = await startDev(installed, []);
  });
  after(() => dev[Symbol.asyncDispose]());

  test('is ready within 20 s and prints exactly one line of JSON', (t) => {
    t.diagnostic(`ready after ${(dev.readyMs / 1_000).toFixed(1)} s`);
    assert.ok(dev.readyMs < 20_000 * BUSY, `${dev.readyMs} ms`);
    assert.deepEqual(Object.keys(dev.ready), ['ready', 'collectUrl', 'consoleUrl', 'token', 'writeKey']);
    assert.equal(dev.ready.ready, true);
  });

  test('serves the console', async () => {
    const answer = await fetch(dev.ready.consoleUrl, { headers: { Accept: 'text/html' } });
    assert.equal(answer.status, 200);
    assert.match(await answer.text(), /<script type="module"/);
  });

  test('delivers the first event within a minute of the command, with zero edits', async (t) => {
    const sentAt = performance.now();
    await track(dev, { messageId, event: 'Order Completed', userId: 'u1' });
    await until('the event is delivered', () => deliveredCount(dev, messageId));
    const tookMs = performance.now() - sentAt;
    t.diagnostic(`delivered, and seen in the API, ${tookMs.toFixed(0)} ms after it was sent`);
    assert.ok(dev.readyMs + tookMs < 60_000 * BUSY);
  });

  test('holds its data folder against a second one', async () => {
    await assert.rejects(startDev(installed, []), /Another `millrace dev` \(process \d+\) uses .*\n.*--data DIR/);
  });

  test('leaves nothing running after Ctrl-C, and printed nothing more', async () => {
    await dev.stop('SIGINT');
    assert.deepEqual(processesWith(dataDir), []);
    for (const url of [dev.ready.collectUrl, dev.ready.consoleUrl]) await assert.rejects(fetch(url), url);
    assert.equal(dev.lines.length, 1);
  });

  test('is followed by a second start within 5 s that has the data of the first', async (t) => {
    await using second = await startDev(installed, []);
    t.diagnostic(`ready again after ${(second.readyMs / 1_000).toFixed(1)} s`);
    assert.ok(second.readyMs < 5_000 * BUSY, `${second.readyMs} ms`);
    assert.deepEqual(second.ready, dev.ready);
    assert.equal(await deliveredCount(second, messageId), 1);
  });
});

test('a start after kill -9 ends the engines that were left behind, and has the data', async () => {
  const messageId = randomUUID();
  // Without npx and setpriv's child between, the pid is that of the command itself.
  const killed = await startDev(installed, ['--no-shop'], [join(installed.dir, 'bin/node'), millrace()]);
  await track(killed, { messageId, event: 'Order Completed', userId: 'u1' });
  await until('the event is delivered', () => deliveredCount(killed, messageId));
  await killed.stop('SIGKILL');
  const orphans = processesWith(dataDir).map((line) => line.split(' ')[0]);
  assert.ok(orphans.length >= 2, 'NATS and PostgreSQL outlive a killed parent');

  await using next = await startDev(installed, ['--no-shop']);
  assert.equal(await deliveredCount(next, messageId), 1);
  const running = new Set(processesWith(dataDir).map((line) => line.split(' ')[0]));
  assert.deepEqual(
    orphans.filter((pid) => running.has(pid)),
    [],
  );
});

test('SIGTERM to the command alone leaves nothing running', async () => {
  const dev = await startDev(installed, ['--no-shop'], [join(installed.dir, 'bin/node'), millrace()]);
  process.kill(dev.pid, 'SIGTERM');
  await dev.stop('SIGTERM');
  assert.deepEqual(processesWith(dataDir), []);
});

test('the examples of its help do what they say', async () => {
  const help = installed.run('npx', 'millrace', 'dev', '--help').stdout;
  const examples = [...help.matchAll(/^ {2}millrace dev(.*)$/gm)].map(([, args = '']) => args.trim());
  assert.equal(examples.length, 2);
  const [plain = '', json = ''] = examples;
  assert.equal(plain, '');
  const shown = await untilShown(installed, ['npx', 'millrace', 'dev'], 'Ctrl-C stops');
  assert.match(
    shown,
    /Open {2}http:\/\/localhost:\d+[^]*email +mara@fernhill\.example[^]*curl -u demo-write-key: http/,
  );
  await using dev = await startDev(installed, json.replace('--json', '').trim().split(' '));
  assert.equal(dev.ready.ready, true);
});

test('--pglite delivers without any PostgreSQL, and keeps its data', async (t) => {
  const messageId = randomUUID();
  const args = ['--no-shop', '--pglite', '--data', join(installed.dir, 'home/lite')];
  {
    await using dev = await startDev(installed, args);
    t.diagnostic(`PGlite: ready after ${(dev.readyMs / 1_000).toFixed(1)} s`);
    await track(dev, { messageId, event: 'Order Completed', userId: 'u1' });
    await until('the event is delivered', () => deliveredCount(dev, messageId));
  }
  await using again = await startDev(installed, args);
  assert.equal(await deliveredCount(again, messageId), 1);
});

function millrace(): string {
  return join(installed.appDir, 'node_modules/millrace/bin/millrace.cjs');
}

async function track({ ready: { collectUrl, writeKey } }: DevProcess, call: object): Promise<void> {
  const headers = { Authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}` };
  const answer = await fetch(`${collectUrl}/v1/track`, { method: 'POST', headers, body: JSON.stringify(call) });
  assert.equal(answer.status, 200, await answer.text());
}

/** How many deliveries of an event were made; undefined while there is none. */
async function deliveredCount({ ready: { consoleUrl, token } }: DevProcess, messageId: string) {
  const path = `/api/v1/deliveries?messageId=${messageId}&state=delivered`;
  const answer = await fetch(consoleUrl + path, { headers: { Authorization: `Bearer ${token}` } });
  assert.equal(answer.status, 200);
  const { items } = (await answer.json()) as { items: unknown[] };
  return items.length === 0 ? undefined : items.length;
}
