import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { DiscardPolicy, RetentionPolicy, StorageType } from '@nats-io/jetstream';
import { layout } from './layout.ts';

const SETTINGS = {
  replicas: 3,
  eventStreams: 4,
  laneStreams: 3,
  retentionMs: 3_600_000,
  dedupWindowMs: 600_000,
} as const;
const STORE_BYTES = 100_000_000_000;

suite('the layout', () => {
  const { streams, buckets, consumers } = layout(SETTINGS, STORE_BYTES);

  test('never asks for more than 80 % of what a server may store', () => {
    const asked = [...streams.map((stream) => stream.max_bytes), ...buckets.map((bucket) => bucket.maxBytes)];
    assert.ok(asked.every((bytes) => bytes > 0));
    assert.ok(asked.reduce((sum, bytes) => sum + bytes, 0) <= STORE_BYTES * 0.8);
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
