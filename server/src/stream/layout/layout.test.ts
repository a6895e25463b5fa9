import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { DiscardPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import { layout } from './layout.ts';
import { sizesOn } from './stream-sizes.ts';

const SETTINGS = {
  replicas: 3,
  eventStreams: 4,
  laneStreams: 3,
  outcomeStreams: 4,
  retentionMs: 3_600_000,
  dedupWindowMs: 600_000,
} as const;
const STORE_BYTES = 100_000_000_000;

suite('the layout', () => {
  const { streams, consumers } = layout(SETTINGS, sizesOn(SETTINGS, STORE_BYTES));

  test('never asks for more than 80 % of what a server may store, however small or large that is', () => {
    for (const storeBytes of [50_000_000, 1_000_000_000, 4_000_000_000, 20_000_000_000, STORE_BYTES]) {
      const plan = layout(SETTINGS, sizesOn(SETTINGS, storeBytes));
      const limited = plan.streams.filter((stream) => stream.name !== 'TICKETS');
      const asked = [...limited.map((stream) => stream.max_bytes), ...plan.buckets.map((bucket) => bucket.maxBytes)];
      assert.ok(asked.every((bytes) => bytes > 0));
      assert.ok(asked.reduce((sum, bytes) => sum + bytes, 0) <= storeBytes * 0.8, `${storeBytes}`);
    }
  });

  test('has no limit that could make the engine drop a ticket: it holds one message for each subject', () => {
    const tickets = streams.find((stream) => stream.name === 'TICKETS');
    assert.deepEqual([tickets?.max_bytes, tickets?.max_msgs_per_subject], [-1, 1]);
  });

  test('leaves the age of events to us: the engine would drop what is not delivered', () => {
    for (const stream of streams.filter(({ name }) => name.startsWith('EVENTS-'))) assert.equal(stream.max_age, 0);
  });

  test('has room for the configuration of 100,000 destinations on an ordinary store', () => {
    for (const storeBytes of [5_000_000_000, 20_000_000_000, STORE_BYTES]) {
      const config = layout(SETTINGS, sizesOn(SETTINGS, storeBytes)).buckets.find(({ name }) => name === 'config');
      assert.ok((config?.maxBytes ?? 0) >= 100_000 * 2_000, `${config?.maxBytes} of ${storeBytes}`);
    }
  });

  test('keeps everything in files, on every replica', () => {
    for (const stream of streams) {
      assert.equal(stream.storage, StorageType.File, stream.name);
      assert.equal(stream.num_replicas, 3, stream.name);
    }
  });

  test('refuses new events when full instead of dropping old ones', () => {
    const events = streams.filter((stream) => stream.name.startsWith('EVENTS-'));
    assert.deepEqual(
      events.map((stream) => stream.name),
      ['EVENTS-0', 'EVENTS-1', 'EVENTS-2', 'EVENTS-3'],
    );
    for (const stream of events) {
      assert.equal(stream.discard, DiscardPolicy.New);
      assert.equal(stream.retention, RetentionPolicy.Limits);
      assert.equal(stream.duplicate_window, 600_000 * 1_000_000);
    }
  });

  test('has no subject that two streams would both take', () => {
    const subjects = streams.flatMap((stream) => stream.subjects);
    assert.equal(new Set(subjects).size, subjects.length);
  });

  test('has a consumer that takes tickets only when they are due', () => {
    const drains = consumers.filter((consumer) => consumer.stream === 'TICKETS');
    assert.deepEqual(
      drains.map(({ config }) => config.filter_subject),
      ['tickets.due.*', 'tickets.urgent.*'],
    );
  });
});
