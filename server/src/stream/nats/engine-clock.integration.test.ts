import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { type NatsCluster, startNatsCluster } from '@millrace/engines';
import { pino } from 'pino';
import { openMetrics } from '../../metrics/open-metrics.ts';
import { shiftClock } from '../../../testing/shift-clock.ts';
import { openStream } from '../open-stream.ts';
import { until } from '../../../testing/until.ts';
import { STREAM_SETTINGS } from '../../../testing/stream-settings.ts';

const DAY_MS = 86_400_000;
/** A stall of the machine may add this to a time that is compared. */
const NOISE_MS = 10_000;

let cluster: NatsCluster;
before(async () => void (cluster = await startNatsCluster()));
after(() => cluster[Symbol.asyncDispose]());

function open() {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const metrics = openMetrics();
  const offsetSeconds = async () => Number(/^millrace_clock_offset_seconds (\S+)$/m.exec(await metrics.text())?.[1]);
  const stream = openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, metrics, log });
  return { stream, offsetSeconds, lines: (event: string) => lines.filter((line) => line.includes(event)) };
}

suite('a host whose clock is wrong', () => {
  for (const [shiftMs, said] of [
    [-30_000, /30\.\d s behind that of NATS server n1.*at most 2 s.*NTP/],
    [DAY_MS, /8640\d\.\d s ahead of that of NATS server n1.*at most 2 s.*NTP/],
  ] as const) {
    test(`by ${shiftMs} ms is refused at its start, with its offset and what to do`, async () => {
      using _ = shiftClock(shiftMs);
      await assert.rejects(open().stream, said);
    });
  }

  test('by less than two seconds starts', async () => {
    using _ = shiftClock(-1_000);
    await using stream = await open().stream;
    assert.ok(stream.isConnected());
  });

  test('after its start goes on in the engine’s time, says so once, and once when it is right again', async () => {
    using clock = shiftClock(0);
    const { stream: opening, offsetSeconds, lines } = open();
    await using stream = await opening;
    for (const [nth, shiftMs] of [-30_000, DAY_MS].entries()) {
      const [before, startedAt] = [stream.now(), performance.now()];
      clock.set(shiftMs);
      assert.ok(stream.now() >= before && stream.now() - before < NOISE_MS, 'not moved by the host');
      await until(() => lines('clock.drifted').length > nth);
      assert.match(lines('clock.drifted')[nth] ?? '', /NTP/);
      assert.ok(Math.abs((await offsetSeconds()) - shiftMs / 1_000) < 2);
      const passed = performance.now() - startedAt;
      assert.ok(Math.abs(stream.now() - before - passed) < 1_000, 'as much as the monotonic clock');
      clock.set(0);
      await until(() => lines('clock.corrected').length > nth);
      assert.equal(lines('clock.drifted').length, nth + 1);
    }
  });
});
