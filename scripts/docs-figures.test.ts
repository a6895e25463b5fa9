/** The figures of the calculators are held against the measurements, the server and the page of scale. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { acceptRequest, signingKey } from '@millrace/contract';
import { RETRY_WINDOW_MS } from '@millrace/contract/retry-schedule';
import { ceilingsOf } from '../cli/src/scale/ceilings.ts';
import { partOf, type ScaleLoad } from '../cli/src/scale/scale-load.ts';
import { bytes } from '../cli/src/sizing/describe-sizing.ts';
import { type Figure, figure, FIGURES } from '../cli/src/sizing/figures.ts';
import { cpuUsOf, postBytesOf } from '../cli/src/sizing/measured-costs.ts';
import { sizeInstallation } from '../cli/src/sizing/size-installation.ts';
import { orderCall } from '../bench/src/order-call.ts';
import { readConfig } from '../server/src/config.ts';
import { makeBatch, makePosts } from '../server/src/deliver/attempt/make-posts.ts';
import { fixedHeaders } from '../server/src/deliver/attempt/webhook.ts';
import { deliveryId, eventOrder, newDelivery, requestOrder } from '../server/src/domain/delivery.ts';
import { DEFAULTS } from '../server/src/read-setting.ts';
import { layout } from '../server/src/stream/layout/layout.ts';
import { sizesOn } from '../server/src/stream/layout/stream-sizes.ts';
import { openTestClient, wordFor } from '../server/testing/client.ts';
import { ok, openRawReceiver } from '../server/testing/raw-receiver.ts';
import { aWebhook } from '../server/testing/samples.ts';
import { FIGURES_PAGE, figuresPage } from './print-figures.ts';
import { PAGE_LOAD, SCALE_PAGE, withTables } from './print-scale.ts';
import { ROOT_DIR } from './project-files.ts';

const read = (file: string) => readFileSync(join(ROOT_DIR, file), 'utf8');
const STORE_BYTES = 1e12;

suite('the figures of the calculators', () => {
  test('are those of their page: `node scripts/print-figures.ts --write`', () => {
    assert.equal(read(FIGURES_PAGE), figuresPage());
  });

  test('stand in the measurements, where they say so', () => {
    const quoted = Object.entries<Figure>(FIGURES).filter(([, { basis }]) => basis === 'measured');
    assert.ok(quoted.length >= 3);
    for (const [name, { value, says }] of quoted) {
      assert.ok(says, name);
      assert.ok(read(`docs/measurements/${says.page}`).includes(says.words), `${name}: ${says.page} has other words`);
      assert.ok(says.words.includes(value.toLocaleString('en-US')), `${name}: ${says.words} without ${value}`);
    }
  });

  test('are the constants of the server, where they say so', () => {
    const settings = { eventStreams: 4, laneStreams: 2, outcomeStreams: 2, retentionMs: 1, dedupWindowMs: 1 };
    const three = { ...settings, replicas: 3 as const };
    const { streams } = layout(three, sizesOn(three, STORE_BYTES));
    const shareOf = (start: string) =>
      streams.filter(({ name }) => name.startsWith(start)).reduce((sum, { max_bytes }) => sum + max_bytes, 0) /
      STORE_BYTES;
    const shares = [shareOf('EVENTS'), shareOf('LANES'), shareOf('DEAD'), shareOf('OUTCOMES')];
    assert.deepEqual(
      shares.map((share) => Math.round(share * 1_000) / 1_000),
      [figure('store.events'), figure('store.lanes'), figure('store.dead-letters'), figure('store.outcomes')],
    );
    assert.equal(figure('deliver.slots'), Number(DEFAULTS.MILLRACE_MAX_IN_FLIGHT));
    assert.equal(figure('retry.hours'), RETRY_WINDOW_MS / 3_600_000);
    const [, opened] = /const MOST_OPENED = ([\d_]+)/.exec(read('server/src/stream/config/destination-index.ts')) ?? [];
    // A cache of two generations.
    assert.equal(figure('deliver.cached-destinations'), 2 * Number(opened?.replaceAll('_', '')));
    for (const name of ['MILLRACE_EVENT_STREAMS', 'MILLRACE_LANE_STREAMS', 'MILLRACE_OUTCOME_STREAMS']) {
      const refuses = (count: number) => JSON.stringify(readConfig({ [name]: String(count) })).includes(name);
      assert.deepEqual([figure('streams.most'), figure('streams.most') + 1].map(refuses), [false, true], name);
    }
  });
});

suite('the bytes of a POST', () => {
  const key = signingKey(`whsec_${Buffer.alloc(32, 'k').toString('base64')}`);
  const calls = Array.from({ length: 100 }, (_, index) => ({
    type: 'track',
    messageId: `m-${index}`,
    ...orderCall(index),
  }));
  const eventBytes = calls.reduce((sum, call) => sum + JSON.stringify(call).length, 0) / calls.length;
  const shape = { eventBytes, callsPerRequest: 1, destinationsPerEvent: 1 };
  const now = Date.parse('2026-11-17T12:00:00Z');
  const deliveries = acceptRequest(
    { batch: calls },
    {
      shape: 'batch',
      receivedAt: new Date(now).toISOString(),
      requestId: 'r',
    },
  ).map((event, place) => ({
    ...newDelivery(deliveryId('dst_1', 'src_1', event.messageId), event, now),
    order: eventOrder(requestOrder(event.receivedAt, { stream: 0, sequence: 1 }), place),
  }));

  for (const [events, secret] of [
    [1, undefined],
    [1, key],
    [20, key],
    [100, key],
  ] as const)
    test(`are those that deliver sends: ${events} ${secret === undefined ? 'unsigned' : 'signed'}`, async () => {
      await using client = openTestClient();
      await using receiver = await openRawReceiver(ok);
      const format = events === 1 ? 'documented' : 'batch';
      const webhook = aWebhook({ targets: [{ url: receiver.url, headers: fixedHeaders() }], secret, format });
      const batch = deliveries.slice(0, events).map((delivery) => ({ delivery }));
      const sent = { now, windowMs: RETRY_WINDOW_MS, standing: 'unknown' } as const;
      const [first] = batch;
      assert.ok(first);
      const [post] = events === 1 ? makePosts(first.delivery, webhook, sent) : makeBatch(batch, webhook, sent);
      assert.ok(post);
      assert.equal(wordFor(await client.post(post)), 200);
      const calculated = postBytesOf({ ...shape, eventsPerPost: events }, secret !== undefined);
      const off = Math.abs(calculated / receiver.bytes() - 1);
      assert.ok(off < 0.02, `${receiver.bytes()} sent, ${calculated} calculated`);
    });
});

suite('the page of scale', () => {
  const page = read(SCALE_PAGE);

  test('has the tables of the calculator: `node scripts/print-scale.ts --write`', () => {
    assert.equal(page, withTables(page));
  });

  test('quotes the calculator and the measurements', () => {
    const at = (eventsPerSecond: number, change: Partial<ScaleLoad> = {}) =>
      partOf({ ...PAGE_LOAD, eventsPerSecond, ...change }, 1);
    const store = (rate: number) => sizeInstallation(at(rate)).nats.maxFileStoreBytes;
    const ceiling = (name: string, change: Partial<ScaleLoad> = {}) =>
      ceilingsOf({ ...PAGE_LOAD, ...change }).find(({ component }) => component === name)?.eventsPerSecond ?? 0;
    const thousands = (value: number) => Number(value.toPrecision(3)).toLocaleString('en-US');
    const quoted = [
      `${figure('record.per-second').toLocaleString('en-US')} deliveries a second`,
      `${figure('deliver.one-destination')} µs of CPU for a delivery to one destination and ${figure('deliver.many-destinations')} µs`,
      `100 GB hold ${((72 * 100e9) / store(10_000)).toFixed(2)} hours, not 72`,
      `\`max_file_store\` of ${bytes(store(10_000))} on each server`,
      `need a \`max_file_store\` of ${(store(100_000) / 1e12).toFixed(0)} TB on each of three servers`,
      `a disk of 16 TB carries ${thousands(ceiling('the disks of NATS in a cell'))} events a second`,
      `about ${figure('cell.events').toLocaleString('en-US')} events a second, an estimate`,
      `${figure('cpu.postgres.delivery')} µs of CPU and ${figure('bytes.row').toLocaleString('en-US')} bytes for a delivery with a row`,
      `carries about ${thousands(ceiling('a PostgreSQL server', { rowsKept: 1 }))} a second on ${figure('plan.postgres-cores')} cores`,
      `seven days are ${bytes(sizeInstallation(at(1_000_000, { rowsKept: 1 })).postgres.diskBytes)}`,
      `about ${figure('stream.requests')} requests a second (an estimate)`,
      `has ${figure('streams.most')} at most: ${(figure('stream.requests') * figure('streams.most')).toLocaleString('en-US')} requests`,
    ];
    for (const words of quoted) assert.ok(page.includes(words), words);
    const request = `${figure('cpu.collect.request')} µs of CPU, and a call in it ${figure('cpu.collect.call')} µs`;
    assert.ok(read('docs/run/sizing.md').includes(request), request);
    const measured = read('docs/measurements/README.md');
    for (const words of ['deliver at work 757 MB', '10.4 ms (quiet 9.6)', '39 ms (quiet 8)'])
      assert.ok(measured.includes(words), words);
  });
});

/** Two processes of one run side by side, so the ratio holds on any machine. */
test('an event in a batch costs the part of one that goes alone that was measured', () => {
  const rows = [
    ...read('docs/measurements/README.md').matchAll(/^\| deliver, batches of (\d+)\b.*\| (0\.\d+) \(.*$/gm),
  ];
  assert.equal(rows.length, 2);
  for (const [, count, ratio] of rows) {
    const calls = Number(count);
    const alone = { eventBytes: 657, callsPerRequest: calls, destinationsPerEvent: 1, destinationsConfigured: 4 };
    const calculated = cpuUsOf('deliver', { ...alone, eventsPerPost: calls }) / cpuUsOf('deliver', alone);
    const off = calculated / Number(ratio);
    assert.ok(off > 0.8 && off < 1.2, `batches of ${count}: ${calculated} calculated, ${ratio} measured`);
  }
});
