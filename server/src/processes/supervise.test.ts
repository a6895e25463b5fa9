/** A supervisor and its children as real processes. The children play no role, so that no engine is needed. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, suite, test } from 'node:test';
import { freePorts } from '@millrace/engines';
import { startService } from '../../testing/start-service.ts';
import { until } from '../../testing/until.ts';

type Conduct = 'work' | 'crash' | 'refuse' | 'start' | 'stay' | 'half' | 'load';

const PROGRAM = join(import.meta.dirname, '../../testing/crew-program.ts');
const dir = mkdtempSync(join(tmpdir(), 'millrace-crew-'));
const conductFile = join(dir, 'conduct');
after(() => rmSync(dir, { recursive: true }));

const behave = (conduct: Conduct) => writeFileSync(conductFile, conduct);

type StartOptions = { hold?(port: number): Promise<void>; watchEveryMs?: number; drainMs?: number; endMs?: number };

/** Ports of its own for each, so that a test which fails leaves the others alone. */
async function start(conduct: Conduct, options: StartOptions = {}) {
  const { hold, watchEveryMs = 400, drainMs = 0, endMs = 60_000 } = options;
  behave(conduct);
  const [port = 0, metricsPort = 0] = await freePorts(2);
  await hold?.(port);
  const url = `http://127.0.0.1:${metricsPort}`;
  const settings = {
    CREW_CONDUCT: conductFile,
    CREW_PORT: String(port),
    CREW_METRICS_PORT: String(metricsPort),
    CREW_WATCH_EVERY_MS: String(watchEveryMs),
    CREW_DRAIN_MS: String(drainMs),
    CREW_END_MS: String(endMs),
  };
  const service = startService([PROGRAM], settings, url);
  const inState = (state: string) => service.valueOf(`millrace_children{process="supervisor",state="${state}"}`);
  return {
    ...service,
    inState,
    kill: (nth: number, signal: NodeJS.Signals = 'SIGKILL') => process.kill(service.children()[nth] ?? 0, signal),
    /** Fails after `withinMs`, as the check of a load balancer does. */
    async readyz(withinMs = 60_000) {
      const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(withinMs) });
      const { missing = [] } = (await answer.json()) as { missing?: string[] };
      return { status: answer.status, missing };
    },
    async bothReady() {
      await service.ready();
      await until(async () => (await inState('ready')) === 2, undefined, service.told);
    },
  };
}

suite('a supervisor', () => {
  test('starts a child again and again, later each time, while the other one works', async () => {
    await using service = await start('work');
    await service.bothReady();
    behave('crash');
    service.kill(0);
    await until(() => service.of('child.ended').length === 3);
    assert.deepEqual(
      service.of('child.ended').map(({ restartInMs }) => restartInMs),
      [250, 500, 1_000],
    );
    const { status, missing } = await service.readyz();
    assert.deepEqual([status, missing.length], [200, 1]);
    behave('work');
    await service.bothReady();
  });

  test('goes on when a child refuses the settings while another one works, and ends with 78 when none does', async () => {
    await using service = await start('work');
    await service.bothReady();
    behave('refuse');
    service.kill(0);
    await until(() => service.of('child.ended').some(({ code }) => code === 78));
    behave('work');
    await service.bothReady();
    behave('refuse');
    service.kill(1);
    service.kill(service.children().length - 1);
    assert.equal(await service.exitCode(), 78, service.told());
  });

  test('replaces a child that hangs, and tells the metrics of the other one meanwhile', async () => {
    await using service = await start('work');
    await service.bothReady();
    service.kill(0, 'SIGSTOP');
    const page = await service.page();
    assert.match(page, /^up\{process="2"\} 1$/m);
    assert.doesNotMatch(page, /^up\{process="1"\}/m);
    await until(() => service.of('child.hung').length > 0);
    await until(() => service.children().length > 2);
    await service.bothReady();
  });

  test('stays ready for a load balancer that waits for a second while a child hangs', async () => {
    await using service = await start('work', { watchEveryMs: 600_000 });
    await service.bothReady();
    service.kill(0, 'SIGSTOP');
    const check = () => service.readyz(1_000).catch(() => undefined);
    await until(async () => (await check())?.missing[0] === 'process 1: it does not answer');
    assert.equal((await service.readyz()).status, 200);
    assert.deepEqual([await service.inState('ready'), await service.inState('silent')], [1, 1]);
  });

  test('starts no second child beside one that lives when the channel to it fails', async () => {
    await using service = await start('work');
    await service.bothReady();
    service.signal('SIGCONT');
    await until(() => service.of('crew.troubled').length === 1);
    await service.bothReady();
    service.signal('SIGTERM');
    assert.equal(await service.exitCode(), 0);
    assert.deepEqual([service.of('child.ended').length, service.children().length], [0, 2]);
  });

  test('is ready when all collect and deliver, although one of them never gets its other roles to start', async () => {
    await using service = await start('half');
    await until(() => service.of('supervisor.started').length === 1);
    await until(async () => (await service.readyz()).status === 200, undefined, service.told);
    await until(async () => service.of('child.ended').length > 1 && (await service.inState('ready')) === 1);
    const { status, missing } = await service.readyz();
    assert.equal(status, 200);
    assert.match(missing[0] ?? '', /^process 1: it (?:is starting|ended)/);
  });

  test('tries again when the machine has no room for a process', async () => {
    await using service = await start('work');
    await service.bothReady();
    service.signal('SIGUSR2');
    await until(() => service.of('crew.filled').length === 1);
    service.kill(0);
    await until(() => service.of('child.ended').some(({ error }) => String(error).includes('E2BIG')));
    service.signal('SIGUSR2');
    await service.bothReady();
    assert.equal(service.of('renewal.failed').length, 0);
  });

  test('waits for a port that another program has', async () => {
    const other = createServer();
    const hold = async (port: number) => {
      other.listen(port, '127.0.0.1');
      await once(other, 'listening');
    };
    await using service = await start('work', { hold });
    await until(() => service.of('child.ended').length >= 2);
    assert.equal((await service.readyz()).status, 503);
    other.close();
    await service.bothReady();
  });

  test('begins a renewal anew for a person who has corrected the settings, also when a successor never gets ready', async () => {
    await using service = await start('work');
    await service.bothReady();
    behave('start');
    service.signal('SIGHUP');
    // It has read its conduct when it answers.
    await until(async () => (await service.valueOf('up{process="3"}')) === 1);
    assert.equal(await service.inState('starting'), 1);
    behave('work');
    service.signal('SIGHUP');
    await until(() => service.of('renewal.done').length === 1);
    assert.equal(service.of('renewal.failed').length, 0);
    const [first] = service.of('crew.ordered');
    assert.deepEqual([first?.['conduct'], first?.['order']], ['start', 'retire'], 'the successor could drain');
    await service.bothReady();
  });

  test('ends with 0 by a signal to all while they start, also in a renewal', async () => {
    {
      await using service = await start('start');
      await until(async () => service.children().length === 2 && (await service.readyz()).status === 503);
      service.signalAll('SIGTERM');
      assert.equal(await service.exitCode(), 0);
    }
    await using service = await start('work');
    await service.bothReady();
    behave('start');
    service.signal('SIGHUP');
    await until(() => service.children().length > 2);
    service.signalAll('SIGTERM');
    assert.equal(await service.exitCode(), 0);
  });

  test('ends children that load their code when it is told to stop, without having to kill them', async () => {
    await using service = await start('load');
    await until(() => service.children().length === 2);
    service.signal('SIGTERM');
    await until(() => service.of('server.stopping').length === 1);
    behave('work');
    assert.equal(await service.exitCode(), 0);
    assert.equal(service.of('child.killed').length, 0);
  });

  test('kills a child that does not end, after the drain that this child has read and the time to end', async () => {
    await using service = await start('stay', { drainMs: 300, endMs: 50 });
    await service.bothReady();
    service.signal('SIGTERM');
    assert.equal(await service.exitCode(), 0);
    assert.deepEqual(
      service.of('child.killed').map(({ patienceMs }) => patienceMs),
      [350, 350],
    );
  });

  test('starts its children with the heap that it has planned for each', async () => {
    await using service = await start('work');
    await service.bothReady();
    // V8 counts the young generation, too.
    for (const number of [1, 2]) {
      const heapMib = await service.valueOf(`heap{process="${number}"}`);
      assert.ok(heapMib >= 300 && heapMib < 600, String(heapMib));
    }
  });

  test('leaves no child behind when it is killed', async () => {
    for (const conduct of ['work', 'start'] as const) {
      await using service = await start(conduct);
      await until(() => service.children().length === 2);
      if (conduct === 'work') await service.bothReady();
      service.signal('SIGKILL');
      assert.equal(await service.exitCode(), null);
    }
  });
});
