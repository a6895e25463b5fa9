import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { startNatsCluster } from '@millrace/engines';
import { openLog } from '../../log.ts';
import { openInspector } from '../../../testing/inspector.ts';
import type { ControlSide } from '../open-control-side.ts';
import type { DeliverySide } from '../open-delivery-side.ts';
import { openStream } from '../open-stream.ts';
import { openQuarantineBox } from './quarantine.ts';
import { STREAM_SETTINGS } from '../../../testing/stream-settings.ts';

const log = openLog({ level: 'silent', pretty: false });
const stack = new AsyncDisposableStack();
let inspector: Awaited<ReturnType<typeof openInspector>>;
let delivery: DeliverySide;
let control: ControlSide;

before(async () => {
  const cluster = stack.use(await startNatsCluster());
  const stream = stack.use(await openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, log }));
  delivery = stack.use(await stream.deliverySide());
  control = stack.use(await stream.controlSide());
  inspector = stack.use(await openInspector(cluster.url, log));
});
after(() => stack.disposeAsync());

const from = (sequence: number) => ({ stream: 'LANES-0', subject: 'lanes.0.dst_1.0', sequence });
const lane = (sequence: number, text: string) =>
  ({ kind: 'lane', payload: Buffer.from(text), from: from(sequence), why: 'not JSON' }) as const;

suite('quarantine', () => {
  test('keeps the bytes, the headers, the place and the reason of what is put into it', async () => {
    const payload = Buffer.from([0, 255, 10, 13, 123]);
    const headers = [['Nats-Schedule', '@at 2020-01-01T00:00:00Z'] as const, ['Millrace-Request', 'é"\\{'] as const];
    const why = `line\r\nbreak, ${'long '.repeat(200)}`;
    const ticket = { kind: 'ticket', payload, from: from(7), why, headers } as const;
    assert.equal(await delivery.quarantine.append(ticket), 'stored');
    const [entry] = await control.quarantine.read('ticket', 0, 10);
    assert.ok(entry !== undefined);
    assert.deepEqual(Buffer.from(entry.payload), payload);
    assert.deepEqual({ from: entry.from, headers: entry.headers }, { from: from(7), headers });
    assert.equal(entry.why, why.slice(0, 300));
    assert.ok(Math.abs(entry.at - Date.now()) < 60_000);
    assert.deepEqual(await control.quarantine.readOne(entry.sequence), entry);
    await control.quarantine.remove(entry.sequence);
    await control.quarantine.remove(entry.sequence);
    assert.equal(await control.quarantine.readOne(entry.sequence), undefined);
  });

  test('puts an outcome back though the stream that it came from is gone', async () => {
    const place = { stream: 'OUTCOMES-7', subject: 'outcomes.stream.7', sequence: 1 };
    const outcome = { kind: 'outcome', payload: Buffer.from('{"entries":[]}'), from: place, why: 'refused' } as const;
    assert.equal(await delivery.quarantine.append(outcome), 'stored');
    const [entry] = await control.quarantine.read('outcome', 0, 10);
    assert.ok(entry !== undefined);
    assert.equal(await control.quarantine.redrive(entry), 'stored');
    assert.equal((await inspector.manager.streams.info('OUTCOMES')).state.messages, 1);
    await control.quarantine.remove(entry.sequence);
  });

  test('holds what came from one place once, and another payload of the same place beside it', async () => {
    for (const text of ['{', '{', '[']) assert.equal(await delivery.quarantine.append(lane(1, text)), 'stored');
    assert.equal(await delivery.quarantine.append(lane(2, '{')), 'stored');
    const entries = await control.quarantine.read('*', 0, 10);
    assert.deepEqual(
      entries.map(({ payload, from: { sequence } }) => `${sequence} ${Buffer.from(payload).toString()}`),
      ['1 {', '1 [', '2 {'],
    );
    const counts = await control.quarantine.counts();
    assert.deepEqual([counts.get('lane'), counts.get('ticket')], [3, 0]);
  });

  test('shows an entry whose header it does not understand beside the others', async () => {
    await inspector.publish('quarantine.config', 'from a later version');
    const [entry] = await control.quarantine.read('config', 0, 10);
    assert.equal(entry?.why, 'unknown');
    assert.equal(Buffer.from(entry?.payload ?? []).toString(), 'from a later version');
  });

  test('refuses when it is full, and drops nothing that it holds', async () => {
    // A server without a control side: that one gives streams their sizes back every ten seconds.
    await using cluster = await startNatsCluster();
    await using stream = await openStream({ natsUrl: cluster.url, settings: STREAM_SETTINGS, log });
    await using side = await stream.deliverySide();
    await using small = await openInspector(cluster.url, log);
    const { config } = await small.manager.streams.info('QUARANTINE');
    await small.manager.streams.update('QUARANTINE', { ...config, max_bytes: 100_000 });
    const answers: string[] = [];
    for (let i = 10; i < 20; i += 1) answers.push(await side.quarantine.append(lane(i, 'x'.repeat(30_000))));
    assert.deepEqual(
      answers.slice(3),
      Array.from({ length: 7 }, () => 'full'),
    );
    const held = (await openQuarantineBox(small.manager).counts()).get('lane');
    assert.equal(held, answers.filter((each) => each === 'stored').length);
  });
});
