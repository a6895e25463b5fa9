import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type FoundStream, sizesOn, sizeStreams } from './stream-sizes.ts';

const GB = 1_000_000_000;
const SETTINGS = { replicas: 3, eventStreams: 2, laneStreams: 2, outcomeStreams: 1 } as const;
const servers = (...sizes: number[]) => sizes.map((size, index) => ({ name: `n${index + 1}`, bytes: size * GB }));
const OLD = ['n1', 'n2', 'n3'];
const found = (name: string, peers: readonly string[], maxBytes: number, usedBytes = 0): FoundStream => ({
  name,
  peers,
  maxBytes,
  usedBytes,
});
/** The streams that a start on three servers of 100 GB has made. */
const AT_FIRST = [...sizeStreams({ settings: SETTINGS, stores: servers(100, 100, 100), found: [] })].map(
  ([name, bytes]) => found(name, OLD, bytes),
);
const GROWN = { ...SETTINGS, eventStreams: 5 };
const eventsIn = (sizes: ReadonlyMap<string, number>) =>
  [...sizes].filter(([name]) => name.startsWith('EVENTS-')).reduce((all, [, bytes]) => all + bytes, 0);

suite('the sizes of streams', () => {
  test('are shares of a server when each server holds every stream', () => {
    const sizeOf = sizesOn(SETTINGS, 100 * GB);
    assert.ok(Math.abs(sizeOf('EVENTS-0') - 24.95 * GB) < 0.1 * GB, `${sizeOf('EVENTS-0')}`);
    assert.equal(sizeOf('LANES-1'), 8 * GB);
    assert.equal(sizeOf('OUTCOMES'), 6 * GB);
    assert.equal(sizeOf('DEAD'), 5 * GB);
  });

  test('give more room for events when a server comes, on all servers together and on none too much', () => {
    const stores = servers(100, 100, 100, 100);
    const sizes = sizeStreams({ settings: GROWN, stores, found: AT_FIRST });
    assert.ok(eventsIn(sizes) > 60 * GB, `${eventsIn(sizes) / GB}`);
    assert.equal(sizes.get('DEAD'), 5 * GB);
    assert.ok((sizes.get('EVENTS-0') ?? 0) < 24 * GB, 'the first streams give room to the new ones');
  });

  test('double with twice the servers, and no stream becomes smaller', () => {
    const stores = servers(100, 100, 100, 100, 100, 100);
    const sizes = sizeStreams({ settings: { ...SETTINGS, eventStreams: 4 }, stores, found: AT_FIRST });
    assert.ok(eventsIn(sizes) > 99 * GB);
    for (const { name, maxBytes } of AT_FIRST) assert.ok((sizes.get(name) ?? 0) >= maxBytes, name);
  });

  test('never make a stream fuller than the limit at which events are trimmed', () => {
    const full = AT_FIRST.map((stream) =>
      stream.name.startsWith('EVENTS-') ? { ...stream, usedBytes: stream.maxBytes * 0.66 } : stream,
    );
    const sizes = sizeStreams({ settings: GROWN, stores: servers(100, 100, 100, 100), found: full });
    for (const { name, maxBytes, usedBytes } of full) {
      const size = sizes.get(name) ?? 0;
      assert.ok(size >= maxBytes || usedBytes <= size * 0.7001, `${name}: ${usedBytes} of ${size}`);
    }
    assert.ok((sizes.get('EVENTS-2') ?? 0) > 0, 'the little that they give is used');
  });

  test('leave a stream alone that is fuller than that, and one that has just given room', () => {
    const full = AT_FIRST.map((stream) => ({ ...stream, usedBytes: stream.maxBytes * 0.9 }));
    const stores = servers(100, 100, 100, 100);
    const sizes = sizeStreams({ settings: GROWN, stores, found: full });
    for (const { name, maxBytes } of full) assert.ok((sizes.get(name) ?? 0) >= maxBytes, name);
    assert.equal(sizes.get('EVENTS-2'), 0, 'and a stream that finds no room is not made');
    const kept = new Set(['EVENTS-0', 'EVENTS-1']);
    const again = sizeStreams({ settings: GROWN, stores, found: AT_FIRST, kept });
    assert.equal(again.get('EVENTS-0'), AT_FIRST.find(({ name }) => name === 'EVENTS-0')?.maxBytes);
  });

  test('do not follow a server that holds nothing', () => {
    const sizes = sizeStreams({ settings: SETTINGS, stores: servers(100, 100, 100, 1), found: AT_FIRST });
    for (const { name, maxBytes } of AT_FIRST) assert.equal(sizes.get(name), maxBytes, name);
  });

  test('leave a stream as it is that NATS has placed on a small server', () => {
    const stores = servers(100, 100, 100, 10);
    const onSmall = AT_FIRST.map((stream) =>
      stream.name === 'OUTCOMES' ? { ...stream, peers: ['n1', 'n2', 'n4'] } : stream,
    );
    assert.equal(sizeStreams({ settings: SETTINGS, stores, found: onSmall }).get('OUTCOMES'), 6 * GB);
  });

  test('let no small server promise more than it has', () => {
    const stores = servers(100, 100, 100, 4);
    const onSmall = AT_FIRST.map((stream) =>
      ['DEAD', 'KV_config'].includes(stream.name) ? { ...stream, peers: ['n1', 'n2', 'n4'] } : stream,
    );
    const sizes = sizeStreams({ settings: SETTINGS, stores, found: onSmall });
    const there = (sizes.get('DEAD') ?? 0) + (sizes.get('KV_config') ?? 0);
    assert.ok(there > 3 * GB && there < 3.3 * GB, `${there}`);
    assert.equal(sizes.get('QUARANTINE'), 0.4 * GB);
  });

  test('follow the smallest server that holds the stream', () => {
    const sizes = sizeStreams({ settings: SETTINGS, stores: servers(100, 50, 100), found: [] });
    assert.ok(Math.abs((sizes.get('EVENTS-0') ?? 0) - 12.5 * GB) < 0.1 * GB);
  });

  test('give no stream the room of one that an earlier setting left behind', () => {
    const before = { ...SETTINGS, eventStreams: 8, laneStreams: 6 };
    const stores = servers(100, 100, 100);
    const left = [...sizeStreams({ settings: before, stores, found: [] })].map(([name, bytes]) =>
      found(name, OLD, bytes),
    );
    const fewer = sizeStreams({ settings: SETTINGS, stores, found: left });
    for (const name of ['EVENTS-0', 'LANES-0']) {
      const was = left.find((stream) => stream.name === name)?.maxBytes ?? 0;
      assert.ok(Math.abs((fewer.get(name) ?? 0) - was) < 100, name);
    }
  });
});
