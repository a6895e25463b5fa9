import assert from 'node:assert/strict';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { runProgram, temporaryDirectory } from '../testing/run-program.ts';
import { DEAD_URL, type SeenRequest, serveAnswers } from '../testing/serve-answers.ts';
import { trackMany, watchCalls } from '../testing/watch-calls.ts';
import { Millrace, type Options, SpoolError } from './index.ts';

const TRIES = 3;
const QUICK: Options = { minRetryMs: 1, maxRetryMs: 5, maxTries: TRIES };

function idsOf(requests: SeenRequest[]): string[] {
  return requests.flatMap(({ calls }) => calls.map(({ messageId }) => messageId));
}

function ids(from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => `c${from + index}`);
}

suite('the spool', () => {
  test('calls that could not be sent are sent by the next process, in order, as the same batches', async () => {
    using directory = temporaryDirectory();
    const asked = Promise.withResolvers<void>();
    await using server = await serveAnswers(() => {
      asked.resolve();
      return 'hang';
    });
    const options = { ...QUICK, endpoint: server.url, spool: directory.path, timeoutMs: 5_000 };
    const first = await runProgram({ options, calls: 30, end: 'waits for a signal' }, (child) => {
      void asked.promise.then(() => child.kill('SIGKILL'));
    });
    assert.equal(first.signal, 'SIGKILL');
    const under = server.requests[0]?.bytes;
    assert.ok(under, 'a batch was under way');

    await using next = await serveAnswers();
    await using client = new Millrace('key', { ...QUICK, endpoint: next.url, spool: directory.path });
    trackMany(client, 5, 31);
    await client.flush();
    assert.deepEqual(idsOf(next.requests), ids(1, 35));
    assert.deepEqual(next.requests[0]?.bytes, under, 'byte for byte, so that the service can recognise it');
  });

  test('kill -9 at any moment loses no call that was made', async () => {
    using directory = temporaryDirectory();
    const stored = new Set<string>();
    let made = 0;
    for (let round = 0; round < 4; round += 1) {
      // Every other answer is lost, as a service does that is killed, too.
      await using server = await serveAnswers((_, number) => (number % 2 === 0 ? 'reset' : 200));
      const options = { ...QUICK, endpoint: server.url, spool: directory.path, maxQueueCalls: 100_000 };
      const program = { options, calls: 100_000, firstCall: made + 1, end: 'is killed while it makes calls' } as const;
      const { signal, output } = await runProgram(program, (child) => {
        setTimeout(() => child.kill('SIGKILL'), 50 + round * 60);
      });
      assert.equal(signal, 'SIGKILL');
      // The last line may be cut in half.
      made = Math.max(made, ...output.slice(0, output.lastIndexOf('\n')).split('\n').slice(1).map(Number));
      for (const id of server.storedIds()) stored.add(id);
    }
    await using server = await serveAnswers();
    await using client = new Millrace('key', { ...QUICK, endpoint: server.url, spool: directory.path });
    await client.flush();
    for (const id of server.storedIds()) stored.add(id);
    assert.ok(made > 100, `${made} calls were made`);
    const lost = ids(1, made).filter((id) => !stored.has(id));
    assert.deepEqual(lost, []);
  });

  test('with a dead service, close leaves the calls in it and says so', async () => {
    using directory = temporaryDirectory();
    const client = new Millrace('key', { ...QUICK, endpoint: DEAD_URL, spool: directory.path });
    const watched = watchCalls(client);
    trackMany(client, 30);
    assert.deepEqual(await client.close(), { sent: 0, failed: 0, dropped: 0, kept: 30 });
    assert.deepEqual([watched.failed.length, watched.dropped.length], [0, 0]);
    await using server = await serveAnswers();
    await using next = new Millrace('key', { ...QUICK, endpoint: server.url, spool: directory.path });
    assert.equal((await next.flush()).sent, 30);
    assert.deepEqual(idsOf(server.requests), ids(1, 30));
  });

  test('what was kept is tried again by the next flush of the same process', async () => {
    using directory = temporaryDirectory();
    let isUp = false;
    await using server = await serveAnswers(() => (isUp ? 200 : 503));
    await using client = new Millrace('key', { ...QUICK, endpoint: server.url, spool: directory.path });
    trackMany(client, 30);
    assert.equal((await client.flush()).kept, 30);
    isUp = true;
    trackMany(client, 1, 31);
    assert.deepEqual(await client.flush(), { sent: 31, failed: 0, dropped: 0, kept: 0 });
    const arrived = server.requests.filter((_, index) => index >= TRIES);
    assert.deepEqual(idsOf(arrived), ids(1, 31));
  });

  test('a call that the service refuses is not kept', async () => {
    using directory = temporaryDirectory();
    await using server = await serveAnswers(() => 400);
    const client = new Millrace('key', { ...QUICK, endpoint: server.url, spool: directory.path, onError() {} });
    trackMany(client, 30);
    assert.equal((await client.close()).failed, 30);
    const next = new Millrace('key', { ...QUICK, endpoint: server.url, spool: directory.path });
    assert.equal(next.counts.waiting, 0);
    await next.close();
  });

  for (const whenFull of ['dropNewest', 'dropOldest'] as const) {
    test(`is bounded in bytes with ${whenFull}, also when the service is down for long`, async () => {
      using directory = temporaryDirectory();
      const maxQueueBytes = 100_000;
      const options = { ...QUICK, endpoint: DEAD_URL, spool: directory.path, maxQueueBytes, whenFull };
      const client = new Millrace('key', { ...options, maxRetryMs: 100_000, minRetryMs: 100_000, exitTimeoutMs: 1 });
      const watched = watchCalls(client);
      let most = 0;
      for (let n = 1; n <= 30_000; n += 1) {
        trackMany(client, 1, n);
        if (n % 1_000 === 0) {
          await new Promise((resolve) => setImmediate(resolve));
          most = Math.max(most, bytesIn(directory.path));
        }
      }
      assert.ok(watched.dropped.length > 28_000);
      // The waiting calls, and two segments at most that are not quite done with.
      assert.ok(most < maxQueueBytes + 3 * 1_048_576, `${most} bytes`);
    });
  }

  test('the line that was being written when the process ended is left out', async () => {
    using directory = temporaryDirectory();
    const client = new Millrace('key', { ...QUICK, endpoint: DEAD_URL, spool: directory.path });
    trackMany(client, 3);
    await client.close();
    const file = join(directory.path, readdirSync(directory.path).find((name) => name.endsWith('.calls')) ?? '');
    appendFileSync(file, '4 {"type":"track","messageId":"c4","time');
    await using server = await serveAnswers();
    await using next = new Millrace('key', { ...QUICK, endpoint: server.url, spool: directory.path });
    trackMany(next, 1, 5);
    assert.equal((await next.flush()).sent, 4);
    assert.deepEqual(idsOf(server.requests), ['c1', 'c2', 'c3', 'c5']);
  });

  test('is empty when everything was sent and the client closed', async () => {
    using directory = temporaryDirectory();
    await using server = await serveAnswers();
    const client = new Millrace('key', { ...QUICK, endpoint: server.url, spool: directory.path });
    for (let n = 0; n < 40; n += 1)
      client.track({ userId: 'u1', event: 'E', properties: { text: 'x'.repeat(32_000) } });
    await client.close();
    assert.deepEqual(readdirSync(directory.path), []);
  });
});

suite('a spool that other users can reach', () => {
  test('is refused where every user can write', () => {
    using directory = temporaryDirectory();
    chmodSync(directory.path, 0o777);
    assert.throws(() => new Millrace('key', { spool: directory.path }), isUnusable);
  });

  test('follows no link to a file that it would overwrite, append to or read', async () => {
    for (const name of [`lock.${process.pid}`, '1.calls', '1.marks']) {
      using directory = temporaryDirectory();
      using elsewhere = temporaryDirectory();
      const victim = join(elsewhere.path, 'victim');
      const text = `1 {"type":"track","messageId":"c1","userId":"u1","event":"E"}\n`;
      writeFileSync(victim, text);
      // Marks are read where there are calls.
      if (name === '1.marks') writeFileSync(join(directory.path, '1.calls'), text);
      symlinkSync(victim, join(directory.path, name));
      const open = () => new Millrace('key', { ...QUICK, endpoint: DEAD_URL, spool: directory.path });
      if (name.startsWith('lock.')) {
        const client = open();
        trackMany(client, 1);
        await client.close();
      } else {
        assert.throws(open, isUnusable, name);
        assert.ok(!readdirSync(directory.path).includes('lock'), 'the lock was given back');
      }
      assert.equal(readFileSync(victim, 'utf8'), text, name);
    }
  });

  test('refuses calls that another user put there', { skip: process.getuid?.() !== 0 && 'only root can chown' }, () => {
    using directory = temporaryDirectory();
    const file = join(directory.path, '1.calls');
    writeFileSync(file, '1 {"type":"track","messageId":"c1","userId":"u1","event":"E"}\n');
    chownSync(file, 65_534, 65_534);
    assert.throws(() => new Millrace('key', { spool: directory.path }), isUnusable);
  });

  test('reads marks whose ranges have no end that fits into memory', async () => {
    using directory = temporaryDirectory();
    const line = (n: number) => `${n} {"type":"track","messageId":"c${n}","userId":"u1","event":"E"}\n`;
    writeFileSync(join(directory.path, '1.calls'), line(1) + line(2) + line(3));
    writeFileSync(join(directory.path, '1.marks'), '=1-9007199254740991\n-3-9007199254740991\n');
    await using server = await serveAnswers();
    await using client = new Millrace('key', { ...QUICK, endpoint: server.url, spool: directory.path });
    assert.equal((await client.flush()).sent, 2);
  });
});

suite('the lock of a spool', () => {
  test('a second client of the same process is refused', async () => {
    using directory = temporaryDirectory();
    await using first = new Millrace('key', { spool: directory.path });
    assert.equal(first.counts.waiting, 0);
    assert.throws(() => new Millrace('key', { spool: directory.path }), isLocked);
  });

  test('another process is refused while the first lives, and not once it was killed', async () => {
    using directory = temporaryDirectory();
    const options = { endpoint: DEAD_URL, spool: directory.path };
    await runProgram({ options, calls: 1, end: 'waits for a signal' }, (child) => {
      assert.throws(() => new Millrace('key', { spool: directory.path }), isLocked);
      child.kill('SIGKILL');
    });
    await using client = new Millrace('key', { ...QUICK, ...options });
    assert.equal(client.counts.waiting, 1);
  });

  test('a lock of a process with our id from before a restart is no lock', async () => {
    using directory = temporaryDirectory();
    writeFileSync(join(directory.path, 'lock'), `${process.pid} 1`);
    await using client = new Millrace('key', { spool: directory.path });
    assert.equal(client.counts.waiting, 0);
    assert.match(readFileSync(join(directory.path, 'lock'), 'utf8'), new RegExp(`^${process.pid} `));
  });

  test('is gone when the client is closed', async () => {
    using directory = temporaryDirectory();
    await new Millrace('key', { spool: directory.path }).close();
    assert.deepEqual(readdirSync(directory.path), []);
  });
});

function isUnusable(error: unknown): boolean {
  return error instanceof SpoolError && error.code === 'spool_unusable';
}

function isLocked(error: unknown): boolean {
  return error instanceof SpoolError && error.code === 'spool_locked';
}

function bytesIn(directory: string): number {
  return readdirSync(directory).reduce((sum, file) => sum + statSync(join(directory, file)).size, 0);
}
