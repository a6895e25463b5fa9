import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { suite, test } from 'node:test';
import { isEmpty, openTestClient, postTo, wordFor } from '../../../testing/client.ts';
import { OK, openRawReceiver } from '../../../testing/raw-receiver.ts';
import { until } from '../../../testing/until.ts';

/** Linux answers on all of 127.0.0.0/8: one receiver is as many origins as we like. */
const origin = (nth: number, port: number) => `http://127.1.${nth >> 8}.${nth & 0xff}:${port}/hook`;

suite('many origins', () => {
  test('2,000 that hang at once end in time, cost little and leave nothing behind', async (t) => {
    await using client = openTestClient({ timeoutMs: 2_000, maxNewConnectionsPerSecond: 300 });
    await using receiver = await openRawReceiver(() => undefined, { host: '0.0.0.0' });
    const delay = monitorEventLoopDelay({ resolution: 5 });
    const before = process.memoryUsage().rss;
    delay.enable();
    const posts = Array.from({ length: 2_000 }, (_, nth) => postTo(client, origin(nth, receiver.port)));
    await until(() => receiver.received.length >= 1_000 || client.stats().inFlight === 0);
    const grownMb = (process.memoryUsage().rss - before) / 1e6;
    const answers = await Promise.all(posts);
    delay.disable();
    const words = Map.groupBy(answers, wordFor);
    const slowestMs = Math.max(...answers.map((answer) => answer.timings.totalMs));
    t.diagnostic(
      `${words.get('timeout')?.length} sent, ${words.get('not_sent')?.length ?? 0} not; slowest ${slowestMs.toFixed(0)} ms; ` +
        `loop delay p99 ${(delay.percentile(99) / 1e6).toFixed(0)}, max ${(delay.max / 1e6).toFixed(0)} ms; ${grownMb.toFixed(0)} MB`,
    );
    assert.deepEqual(new Set(words.keys()).difference(new Set(['timeout', 'not_sent'])), new Set());
    const reached = new Set(receiver.received.map(({ head }) => /host: ([\d.]+)/.exec(head)?.[1]));
    for (const { address } of words.get('not_sent') ?? []) assert.equal(address, undefined);
    assert.ok((words.get('timeout') ?? []).length >= reached.size, 'what was not sent was not received');
    assert.ok(slowestMs < 4_000, `${slowestMs} ms`);
    assert.ok(delay.max / 1e6 < 1_500, `${delay.max / 1e6} ms`);
    assert.ok(grownMb < 300, `${grownMb} MB`);
    await isEmpty(client);
    await until(() => receiver.sockets.every((socket) => socket.destroyed));
  });

  test('visited one after the other do not add up, even when many are done at once', async () => {
    await using client = openTestClient({ maxIdleConnections: 10, maxNewConnectionsPerSecond: 100_000 });
    const held: (() => void)[] = [];
    await using receiver = await openRawReceiver(
      (socket) => {
        held.push(() => socket.write(OK));
        if (held.length === 50) for (const answer of held.splice(0)) answer();
      },
      { host: '0.0.0.0' },
    );
    for (let nth = 0; nth < 2_000; nth += 50) {
      const posts = Array.from({ length: 50 }, (_, at) => postTo(client, origin(nth + at, receiver.port)));
      assert.ok((await Promise.all(posts)).every((answer) => wordFor(answer) === 200));
      await until(() => client.stats().sockets <= 10 && client.stats().pools <= 10);
    }
  });
});
