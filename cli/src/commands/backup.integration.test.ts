import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { type NatsCluster, type PostgresServer, startNatsCluster, startPostgresServer } from '@millrace/engines';
import { addScene, openStack, overHttp, type Stack, stackSettings } from '../../../server/testing/stack.ts';
import { openInspector } from '../../../server/testing/inspector.ts';
import { openReceiver } from '../../../server/testing/receiver.ts';
import { readConfig } from '../../../server/src/config.ts';
import { openLog } from '../../../server/src/log.ts';
import { startRoles } from '../../../server/src/start-roles.ts';
import { until } from '../../../server/testing/until.ts';
import { runMillrace } from '../../testing/run-millrace.ts';

const TRACK = (event: string) => ({ type: 'track', event, userId: 'u' });

suite('backup and restore', () => {
  let stack: Stack;
  let dir: string;
  let writeKey: string;
  let env: Record<string, string>;
  const receivers = new AsyncDisposableStack();

  before(async () => {
    stack = await openStack();
    dir = mkdtempSync(join(tmpdir(), 'millrace-backup-'));
    // A receiver that is away: its deliveries wait in the lane, with a ticket.
    const receiver = receivers.use(await openReceiver((_, response) => void response.writeHead(503).end()));
    ({ writeKey } = await addScene(stack, receiver.url));
    for (let i = 0; i < 20; i += 1) assert.equal(await stack.send(writeKey, [TRACK(`Before ${i}`)]), 200);
    await until(() => receiver.received.length > 0, 60_000);
    env = envOf(stack.nats, stack.postgres);
  });
  after(async () => {
    await receivers.disposeAsync();
    await stack[Symbol.asyncDispose]();
    rmSync(dir, { recursive: true, force: true });
  });

  test('a backup of a running server is restored into new engines, where it goes on with what waited', async () => {
    const to = join(dir, 'whole');
    const taken = await runMillrace(['backup', '--to', to, '--json'], { env });
    assert.equal(taken.code, 0, taken.err);
    const { streams } = JSON.parse(taken.out) as { streams: { stream: { name: string; messages: number } }[] };
    const order = streams.map(({ stream }) => stream.name);
    assert.deepEqual(order.slice(0, 4), ['QUARANTINE', 'EVENTS-0', 'EVENTS-1', 'LANES-0']);
    assert.equal(order.at(-1), 'AUDIT');
    assert.match(
      (await runMillrace(['restore', '--from', to, '--check'])).out,
      /The backup is whole: \d+ streams and the database/,
    );
    assert.equal(statSync(join(to, 'database.dump')).mode & 0o077, 0, 'only its owner may read it');

    await using nats = await startNatsCluster({ nodes: 1 });
    await using postgres = await startPostgresServer();
    const restored = await runMillrace(['restore', '--from', to], { env: envOf(nats, postgres) });
    assert.equal(restored.code, 0, restored.err);
    assert.match(restored.out, /sealed with key 1/);
    await worksOn(nats, postgres, writeKey);

    const again = await runMillrace(['restore', '--from', to], { env: envOf(nats, postgres) });
    assert.equal(again.code, 3, again.err);
    assert.match(again.err, /is not empty.*\n.*--force/);
    const forced = await runMillrace(['restore', '--from', to, '--force'], { env: envOf(nats, postgres) });
    assert.equal(forced.code, 0, forced.err);
    await worksOn(nats, postgres, writeKey);
  });

  test('a drill restores into throwaway engines, compares the counts, and refuses the engines of the settings', async () => {
    const from = join(dir, 'drill');
    assert.equal((await runMillrace(['backup', '--to', from], { env })).code, 0);
    await using nats = await startNatsCluster({ nodes: 1 });
    await using postgres = await startPostgresServer();
    await using fresh = await startNatsCluster({ nodes: 1 });
    const there = ['--nats-url', nats.adminUrl, '--database-url', postgres.url];
    const drill = await runMillrace(['drill', '--from', from, ...there], { env });
    assert.equal(drill.code, 0, `${drill.out}${drill.err}`);
    assert.match(
      drill.out,
      /same {2}EVENTS-0, last sequence: \d+\n[\s\S]*same {2}rows of sources: 1\n[\s\S]*restored as of /,
    );
    const onProduction = await runMillrace(['drill', '--from', from, '--nats-url', stack.nats.adminUrl], { env });
    assert.equal(onProduction.code, 2);
    assert.match(onProduction.err, /these are the ones that the settings name/);

    // Without settings only the content of the engines tells that they are in use.
    const again = await runMillrace(['drill', '--from', from, ...there]);
    assert.equal(again.code, 3, again.err);
    assert.match(again.err, /not empty: NATS has \d+ streams .*, and the database has \d+ tables. Nothing was changed/);
    const emptyNats = ['--nats-url', fresh.adminUrl, '--database-url', stack.postgres.url];
    const onTables = await runMillrace(['drill', '--from', from, ...emptyNats]);
    assert.equal(onTables.code, 3, onTables.err);
    assert.equal((await stack.get<{ items: unknown[] }>('GET', '/sources')).items.length, 1);
    const forced = await runMillrace(['drill', '--from', from, ...there, '--force']);
    assert.equal(forced.code, 0, forced.err);
  });

  test('no role works on the streams of a restore that broke off, until a restore has finished', async () => {
    const from = join(dir, 'broken-off');
    assert.equal((await runMillrace(['backup', '--to', from], { env })).code, 0);
    await using nats = await startNatsCluster({ nodes: 1 });
    await using postgres = await startPostgresServer();
    // The service's login does not exist: the restore fails at its last step, after all streams.
    const failing = { ...envOf(nats, postgres), MILLRACE_DATABASE_URL: 'postgres://127.0.0.1:9/x' };
    assert.notEqual((await runMillrace(['restore', '--from', from], { env: failing })).code, 0);
    const read = readConfig({ ...stackSettings(nats.url, postgres), MILLRACE_METRICS_PORT: '0' });
    assert.ok(read.ok);
    let isStarted = false;
    const file = join(dir, 'broken-off.log');
    const starting = startRoles(read.value, openLog({ level: 'warn', pretty: false, file })).then((roles) => {
      isStarted = true;
      return roles;
    });
    await until(() => existsSync(file) && readFileSync(file, 'utf8').includes('restore.waiting'));
    assert.equal(isStarted, false);
    const again = await runMillrace(['restore', '--from', from, '--force'], { env: envOf(nats, postgres) });
    assert.equal(again.code, 0, again.err);
    await using running = await starting;
    assert.ok(running.collectPort);
  });

  test('a damaged, cut-off, missing or unfinished backup is named and never restored', async () => {
    const whole = join(dir, 'damage');
    assert.equal((await runMillrace(['backup', '--to', whole], { env })).code, 0);
    const file = join(whole, 'streams/EVENTS-0.snapshot');
    copyFileSync(file, join(dir, 'kept'));
    const check = () => runMillrace(['restore', '--from', whole, '--check']);
    const bytes = readFileSync(file);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    assert.match(
      (await check()).err,
      /EVENTS-0.snapshot does not have the checksum .* damaged\n.*Nothing was restored/,
    );
    truncateSync(file, 10);
    assert.match((await check()).err, /EVENTS-0.snapshot has 10 bytes instead of \d+/);
    rmSync(file);
    const missing = await check();
    assert.deepEqual([missing.code, /EVENTS-0.snapshot is missing/.test(missing.err)], [6, true]);
    copyFileSync(join(dir, 'kept'), file);
    assert.equal((await check()).code, 0);
    rmSync(join(whole, 'manifest.json'));
    assert.match((await check()).err, /has no manifest.json: it is no backup, or one that did not finish/);
  });

  test('a backup into a folder that is not empty is refused, and one that fails leaves nothing behind', async () => {
    const to = join(dir, 'full');
    assert.equal((await runMillrace(['backup', '--to', to], { env })).code, 0);
    const second = await runMillrace(['backup', '--to', to], { env });
    assert.equal(second.code, 2);
    assert.match(second.err, /holds a backup already/);
    const failing = join(dir, 'failing');
    const wrong = { ...env, MILLRACE_DATABASE_URL: 'postgres://127.0.0.1:9/x', MILLRACE_MIGRATION_DATABASE_URL: '' };
    const failed = await runMillrace(['backup', '--to', failing], { env: wrong });
    assert.equal(failed.code, 5, failed.err);
    assert.deepEqual(readdirSync(failing), []);
    assert.equal(existsSync(join(failing, 'manifest.json')), false);
    const asRole = { ...env, MILLRACE_NATS_URL: stack.nats.url };
    const refused = await runMillrace(['backup', '--to', join(dir, 'role')], { env: asRole });
    assert.notEqual(refused.code, 0);
    assert.match(refused.err, /needs more rights than a role has/);
  });

  test('of two backups into one new folder at the same time one is refused, and the other is whole', async () => {
    const to = join(dir, 'twice');
    const take = () => runMillrace(['backup', '--to', to], { env });
    const [refused, taken] = (await Promise.all([take(), take()])).toSorted(
      (one, other) => Number(other.code) - Number(one.code),
    );
    assert.deepEqual([taken?.code, refused?.code], [0, 2], refused?.err);
    assert.match(refused?.err ?? '', /Another backup is writing|is not empty|holds a backup already/);
    assert.equal((await runMillrace(['restore', '--from', to, '--check'], { env })).code, 0);
    assert.deepEqual(readdirSync(to).toSorted(), ['database.dump', 'manifest.json', 'streams']);
  });

  test('a restore beside running processes is refused', async () => {
    const from = join(dir, 'running');
    assert.equal((await runMillrace(['backup', '--to', from, '--without-database'], { env })).code, 0);
    const refused = await runMillrace(['restore', '--from', from, '--force', '--without-database'], { env });
    assert.equal(refused.code, 3, refused.err);
    assert.match(refused.err, /A Millrace process still works on the stream/);
  });
});

function envOf(nats: NatsCluster, { url, serviceUrl }: PostgresServer): Record<string, string> {
  return { MILLRACE_NATS_URL: nats.adminUrl, MILLRACE_DATABASE_URL: serviceUrl, MILLRACE_MIGRATION_DATABASE_URL: url };
}

/** The same key and token work, the deliveries that waited still wait, and a new call is taken. */
async function worksOn(nats: NatsCluster, postgres: PostgresServer, writeKey: string): Promise<void> {
  const read = readConfig({ ...stackSettings(nats.url, postgres), MILLRACE_METRICS_PORT: '0' });
  assert.ok(read.ok);
  await using running = await startRoles(read.value, openLog({ level: 'fatal', pretty: false }));
  const stack = overHttp({
    controlUrl: () => `http://127.0.0.1:${running.control?.port}`,
    collectUrl: () => `http://127.0.0.1:${running.collectPort}`,
  });
  const { items } = await stack.get<{ items: { id: string }[] }>('GET', '/sources');
  assert.equal(items.length, 1);
  await until(async () => (await stack.send(writeKey, [TRACK('After')])) === 200, 60_000);
  await using inspector = await openInspector(nats.adminUrl, openLog({ level: 'silent', pretty: false }));
  const waiting = (await inspector.manager.streams.info('LANES-0')).state.messages;
  assert.ok(waiting >= 1, 'the deliveries that waited still wait');
}
