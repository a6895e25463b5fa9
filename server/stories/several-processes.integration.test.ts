/** `MILLRACE_PROCESSES=2`: a supervisor and two children that share the ports. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { openProcessBed, type Sender, startSending } from '../testing/process-bed.ts';
import { openReceiver } from '../testing/receiver.ts';
import type { Service } from '../testing/start-service.ts';
import { addScene } from '../testing/stack.ts';
import { until } from '../testing/until.ts';

type Bed = Awaited<ReturnType<typeof openProcessBed>>;

const opened = new AsyncDisposableStack();
let bed: Bed;
let service: Service;
let receiver: Awaited<ReturnType<typeof openReceiver>>;
let writeKey = '';

before(async () => {
  bed = opened.use(await openProcessBed());
  receiver = opened.use(await openReceiver());
  service = opened.use(await bed.start());
  const { sourceId } = await addScene(bed, receiver.url);
  // A process that knows this key knows the older destination too.
  writeKey = (await bed.get<{ key: string }>('POST', `/sources/${sourceId}/write-keys`, { label: 'Later' })).key;
});
after(() => opened.disposeAsync());

const readyz = async () => (await fetch(`${bed.metricsUrl}/readyz`)).status;

const readyChildren = () => service.valueOf('millrace_children{process="supervisor",state="ready"}');

async function stopped(...senders: Sender[]): Promise<Set<string>> {
  await Promise.all(senders.map((sender) => sender.stop()));
  return new Set(senders.flatMap(({ accepted }) => [...accepted]));
}

const isDelivered = (accepted: Set<string>) => () =>
  accepted.isSubsetOf(new Set(receiver.received.map(({ body }) => (JSON.parse(body) as { event: string }).event)));

suite('two processes', () => {
  test('share the collect port, and one page has the metrics of both', async () => {
    const sender = startSending(bed.collectUrl, writeKey, false);
    const accepted = (number: number) => service.valueOf(`millrace_calls_accepted_total{process="${number}"}`);
    await until(async () => (await accepted(1)) > 0 && (await accepted(2)) > 0);
    await stopped(sender);
    const text = await service.page();
    const heads = text.split('\n').filter((line) => line.startsWith('# '));
    assert.equal(new Set(heads).size, heads.length, 'each help and type once');
    assert.match(text, /^process_cpu_seconds_total\{process="supervisor"\} /m);
    assert.match(text, /^millrace_append_seconds_bucket\{process="2",le="\+Inf"\} /m);
    assert.equal(text.match(/^millrace_recorder_lag_seconds\{/gm)?.length, 1, 'one of them plays control');
    assert.equal(await readyz(), 200);
  });

  test('one is killed: the other answers, and the first one is started again', async () => {
    const [, pid = 0] = service.children();
    process.kill(pid, 'SIGKILL');
    await until(() => service.of('child.ended').length === 1);
    const sender = startSending(bed.collectUrl, writeKey, false);
    await until(async () => {
      assert.equal(await readyz(), 200);
      return service.children().length === 3 && (await readyChildren()) === 2;
    });
    const accepted = await stopped(sender);
    assert.deepEqual(sender.failures, []);
    await until(isDelivered(accepted));
    assert.equal(await service.valueOf('millrace_child_ends_total{process="supervisor",why="crashed"}'), 1);
  });

  test('SIGHUP replaces both, one after the other, and no request is refused', async () => {
    const before = service.children().length;
    const senders = [false, true].map((isKept) => startSending(bed.collectUrl, writeKey, isKept));
    service.signal('SIGHUP');
    await until(async () => {
      assert.equal(await readyz(), 200);
      return service.of('renewal.done').length === 1;
    });
    const accepted = await stopped(...senders);
    assert.deepEqual(
      senders.flatMap(({ failures }) => failures),
      [],
    );
    assert.equal(service.children().length, before + 2);
    await until(isDelivered(accepted));
    assert.equal((await bed.ask('GET', '/sources')).status, 200, 'control has moved with its process');
  });

  test('a renewal with settings that are wrong changes nothing', async () => {
    const before = service.children().length;
    writeFileSync(join(bed.secretsDir, 'MILLRACE_LOG_LEVEL'), 'loud');
    service.signal('SIGHUP');
    await until(() => service.of('renewal.failed').length === 1);
    rmSync(join(bed.secretsDir, 'MILLRACE_LOG_LEVEL'));
    assert.equal(service.of('renewal.failed')[0]?.['code'], 78);
    assert.equal(service.children().length, before + 1);
    assert.deepEqual([await readyz(), await readyChildren()], [200, 2]);
  });

  test('SIGTERM to all processes ends them with 0, and every accepted call is delivered', async () => {
    const sender = startSending(bed.collectUrl, writeKey, true);
    await until(() => sender.accepted.size > 0);
    service.signalAll('SIGTERM');
    assert.equal(await service.exitCode(), 0);
    const accepted = await stopped(sender);
    assert.equal(service.of('child.killed').length, 0);
    assert.equal(service.of('collect.drained').length, 4, 'two were replaced, and two drained now');
    // One process is enough to deliver the rest.
    service = opened.use(await bed.start(1));
    await until(isDelivered(accepted));
  });

  test('SIGHUP drains a process that is alone, so that its process manager starts it with new settings', async () => {
    service.signal('SIGHUP');
    assert.equal(await service.exitCode(), 0, service.told());
    assert.equal(service.of('collect.drained').length, 1);
  });

  test('SIGTERM during the start: a call that is accepted already has its answer', async () => {
    // Control waits for a database that says nothing, and collect listens meanwhile.
    await using database = createServer((socket) => socket.on('error', () => undefined).resume()).listen(
      0,
      '127.0.0.1',
    );
    await once(database, 'listening');
    const url = `postgres://silent@127.0.0.1:${(database.address() as AddressInfo).port}/millrace`;
    await using service = bed.launch(1, { MILLRACE_DATABASE_URL: url, MILLRACE_MIGRATION_DATABASE_URL: url });
    await until(() => service.of('collect.listening').length === 1, undefined, service.told);
    const body = JSON.stringify({ type: 'track', event: 'Early', userId: 'u1', messageId: 'early', writeKey });
    const call = request(`${bed.collectUrl}/v1/track`, { method: 'POST', headers: { 'Content-Length': body.length } });
    const answered = once(call, 'response') as Promise<[IncomingMessage]>;
    call.write(body.slice(0, 5));
    const [socket] = (await once(call, 'socket')) as [Socket];
    if (socket.connecting) await once(socket, 'connect');
    service.signal('SIGTERM');
    await until(() => service.of('server.stopping').length === 1, undefined, service.told);
    call.end(body.slice(5));
    const [{ statusCode }] = await answered;
    assert.equal(statusCode, 200, service.told());
    assert.equal(await service.exitCode(), 0, service.told());
    assert.equal(service.of('collect.drained').length, 1);
  });
});
