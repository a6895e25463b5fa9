import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { sizeCommand } from '../commands/size.ts';
import { bytes, describeSizing } from './describe-sizing.ts';
import { figure } from './figures.ts';
import { cpuUsOf } from './measured-costs.ts';
import { sizeInstallation, USUAL } from './size-installation.ts';

suite('the sizing of an installation', () => {
  test('has each role twice and three NATS servers, however small the load, where it must not stop', () => {
    const { collect, deliver, control, nats } = sizeInstallation({ ...USUAL, eventsPerSecond: 1 });
    assert.deepEqual(
      [collect, deliver, control, nats].map(({ processes }) => processes),
      [2, 2, 2, 3],
    );
  });

  test('has one of each on one machine', () => {
    const { collect, deliver, control, nats } = sizeInstallation({ ...USUAL, eventsPerSecond: 1, replicas: 1 });
    assert.deepEqual(
      [collect, deliver, control, nats].map(({ processes }) => processes),
      [1, 1, 1, 1],
    );
  });

  test('grows with the load, and no process is planned for more than two thirds of a core', () => {
    const sizing = sizeInstallation({ ...USUAL, eventsPerSecond: 30_000 });
    for (const { cores, processes } of [sizing.collect, sizing.deliver, sizing.control]) {
      assert.ok(processes > 2);
      assert.ok(cores / processes <= 2 / 3);
    }
    assert.ok(sizing.streams.events > 2);
  });

  test('keeps the events of the whole retention below the fill at which deliver drops them', () => {
    const load = { ...USUAL, failingShare: 0 };
    const { nats } = sizeInstallation(load);
    const stored = load.eventsPerSecond * load.retentionHours * 3_600 * load.eventBytes;
    assert.equal(nats.decidedBy, 'events');
    assert.ok(nats.maxFileStoreBytes * 0.499 * 0.65 >= stored);
    assert.ok(nats.diskBytes > nats.maxFileStoreBytes);
  });

  test('is decided by lanes and then by dead letters when many receivers are down for long', () => {
    const load = { ...USUAL, retentionHours: 1, failingShare: 0.5 };
    assert.equal(sizeInstallation(load).nats.decidedBy, 'lanes');
    assert.equal(sizeInstallation({ ...load, outageHours: 48 }).nats.decidedBy, 'dead letters');
  });

  test('has deliver processes for slow receivers, although their CPU is idle', () => {
    const fast = sizeInstallation(USUAL).deliver.processes;
    const slow = sizeInstallation({ ...USUAL, answerMs: 4_000 }).deliver.processes;
    assert.equal(fast, 2);
    assert.equal(slow, 5);
  });

  test('needs fewer connections and processes where a POST has several events', () => {
    const slow = { ...USUAL, answerMs: 4_000 };
    const { deliver, connections } = sizeInstallation({ ...slow, eventsPerPost: 20 });
    assert.equal(connections.receivers, Math.ceil(sizeInstallation(slow).connections.receivers / 20));
    assert.equal(deliver.processes, 2);
  });

  test('has a delivery cost more by the measured part where 1,000 destinations take turns, alone or in batches', () => {
    const empty = { eventBytes: 0, callsPerRequest: Infinity, destinationsPerEvent: 1 };
    const measured = figure('deliver.many-destinations') / figure('deliver.one-destination');
    for (const eventsPerPost of [1, 20, 100]) {
      const one = cpuUsOf('deliver', { ...empty, eventsPerPost });
      const many = cpuUsOf('deliver', { ...empty, eventsPerPost, destinationsConfigured: 1_000 });
      assert.ok(Math.abs(many / one - measured) < 1e-9, `${eventsPerPost} events in a POST`);
    }
  });

  test('never has an event in a batch cost less than it was measured to', () => {
    const empty = { eventBytes: 0, callsPerRequest: Infinity, destinationsPerEvent: 1 };
    assert.ok(cpuUsOf('deliver', { ...empty, eventsPerPost: 100 }) >= figure('cpu.deliver.in-batch'));
  });

  test('prints times that the server takes: whole numbers with a unit', () => {
    const { settings } = sizeInstallation({ ...USUAL, retentionHours: 0.5, recordDays: 1.5 });
    assert.deepEqual([settings['MILLRACE_RETENTION'], settings['MILLRACE_RECORD_RETENTION']], ['30m', '36h']);
  });

  test('says which of its numbers no measurement stands behind, and which the server does not take', () => {
    const text = (eventsPerSecond: number) => describeSizing(sizeInstallation({ ...USUAL, eventsPerSecond }));
    assert.match(text(100), /^An estimate, not measured: .*event stream/m);
    assert.doesNotMatch(text(100), /takes 64/);
    assert.match(text(300_000), /^Note: the server takes 64 streams of a kind at most/m);
  });

  test('refuses flags that make no sense, instead of changing them', () => {
    const parse = (...flags: string[]) => {
      const quiet = sizeCommand()
        .exitOverride()
        .configureOutput({ writeErr: () => undefined });
      return quiet.parse(flags, { from: 'user' });
    };
    for (const [flag, value] of [
      ['--peak', '0.5'],
      ['--batch', '0.5'],
      ['--events', '1e300'],
      ['--events', '0'],
    ] as const) {
      assert.throws(() => parse(flag, value), /It must be a number/, `${flag} ${value}`);
    }
  });

  test('reads as a table with the settings below it', () => {
    const text = describeSizing(sizeInstallation(USUAL));
    assert.match(text, /^collect +2 +[\d.]+ +320 MB +–$/m);
    assert.match(text, /^Settings: MILLRACE_REPLICAS=3 MILLRACE_EVENT_STREAMS=2 MILLRACE_RETENTION=72h/m);
  });

  test('writes sizes with two digits that count', () => {
    assert.deepEqual([1.5e6, 2.345e9, 45.2e9, 1.25e12].map(bytes), ['2 MB', '2.3 GB', '46 GB', '1.3 TB']);
  });
});
