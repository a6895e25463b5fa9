import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { SourceConfig } from '../domain/configuration.ts';
import type { EntryVerdict } from '../secrets/sign-entry.ts';
import type { Tx } from '../store/open-store.ts';
import type { ConfigRefusal, ConfigWriter } from '../stream/config/config-writer.ts';
import type { EntryChange } from './write-changes.ts';
import { writeInOrder } from './write-in-order.ts';

const SOURCE = { id: 'src_1', workspaceId: 'ws_1', name: '', enabled: true, writeKeyHashes: ['k1', 'k2'] };
const MOVED = { ...SOURCE, writeKeyHashes: ['k1'], cell: 'eu', cells: ['eu', 'main'], v: 1 };

function changeOf(kind: 'source' | 'destination', objectId: string, value: object | undefined): EntryChange {
  const text = value === undefined ? undefined : JSON.stringify(value);
  return { key: `${kind}.${objectId}`, kind, workspaceId: 'ws_1', objectId, value: text };
}

type Move = {
  entries?: Record<string, object>;
  full?: string[];
  moved?: object | undefined;
  verdict?: EntryVerdict;
};

/** The move of a source with one destination to a bucket with these entries, which refuses the keys that are full. */
async function move({ entries = {}, full = [], verdict = 'authentic', ...change }: Move) {
  const moved = 'moved' in change ? change.moved : MOVED;
  const bucket = new Map(Object.entries(entries).map(([key, value]) => [key, JSON.stringify(value)]));
  const put = ({ key, value = '' }: { key: string; value: string | undefined }): ConfigRefusal[] => {
    if (full.includes(key)) return [{ key, kind: 'full', why: 'full' }];
    if (value === '') bucket.delete(key);
    else bucket.set(key, value);
    return [];
  };
  const writer: Partial<ConfigWriter> = {
    write: async (changes) => changes.flatMap(put),
    replace: async (change) => put(change)[0],
    current: async (key) => {
      const value = bucket.get(key);
      return value === undefined ? { kind: 'deleted' } : { kind: 'put', value, bytes: value.length, verdict };
    },
    room: async () => ({ maxBytes: 1e9, usedBytes: 0 }),
    textOf: (_, value) => value,
    maxValueBytes: () => 1e6,
  };
  const tx: Tx = {
    query: async <Row>(_: unknown, [, tried]: readonly unknown[] = []) =>
      (tried as string[]).filter((id) => id === 'dst_1').map((id) => ({ id, source_id: 'src_1' })) as Row[],
  };
  // The older change of the source is first in the outbox.
  const changes = [changeOf('source', 'src_1', moved), changeOf('destination', 'dst_1', { id: 'dst_1' })];
  const needs = { tx, configWriter: writer as ConfigWriter, cell: 'eu', spread: ['src_1'] };
  const written = await writeInOrder(changes, needs);
  const sourceInBucket = JSON.parse(bucket.get('source.src_1') ?? '{}') as Partial<SourceConfig>;
  return { written, sourceInBucket };
}

suite('an entry of a newer format', () => {
  test('is not overwritten by a control that does not know it, which leaves the change to a newer one', async () => {
    const newer = { ...SOURCE, v: 99, extra: true };
    const { written, sourceInBucket } = await move({ entries: { 'source.src_1': newer } });
    assert.deepEqual(sourceInBucket, newer);
    const refused = written.refused.map(({ change, why }) => `${change.key}: ${why}`);
    assert.deepEqual(refused.length, 1);
    assert.match(refused[0] ?? '', /^source\.src_1: a newer version of control wrote its entry/);
    assert.ok(
      written.written.some(({ key }) => key === 'destination.dst_1'),
      'other changes go on',
    );
  });

  test('does not stay when its signature is wrong, or when its row is gone', async () => {
    const newer = { ...SOURCE, v: 99 };
    const forged = await move({ entries: { 'source.src_1': newer }, verdict: 'forged' });
    assert.deepEqual(forged.sourceInBucket.cells, MOVED.cells);
    const gone = await move({ entries: { 'source.src_1': newer }, moved: undefined });
    assert.deepEqual(gone.sourceInBucket, {});
  });
});

suite('the entry of a source that moves to a cell', () => {
  test('comes behind its destinations', async () => {
    const { written } = await move({});
    assert.deepEqual(
      written.written.map(({ key }) => key),
      ['destination.dst_1', 'source.src_1'],
    );
  });

  test('waits for a destination without room: deliver would take requests and find nobody to send them to', async () => {
    const { written, sourceInBucket } = await move({
      full: ['destination.dst_1'],
      entries: { 'source.src_1': SOURCE },
    });
    assert.deepEqual(
      written.refused.map(({ change }) => change.key),
      ['destination.dst_1', 'source.src_1'],
    );
    assert.equal(sourceInBucket.cells, undefined, 'the cell does not take its requests');
    assert.deepEqual(sourceInBucket.writeKeyHashes, ['k1'], 'a revoked key is revoked');
  });

  test('does not wait when the bucket has an older entry of the destination, or names the cell already', async () => {
    const full = ['destination.dst_1'];
    const older = await move({ full, entries: { 'destination.dst_1': { id: 'dst_1' } } });
    assert.deepEqual(older.sourceInBucket.cells, MOVED.cells);
    const named = await move({ full, entries: { 'source.src_1': { ...MOVED, name: 'Before' } } });
    assert.equal(named.sourceInBucket.name, '');
  });

  test('does not wait for a source that is new everywhere: collect would refuse its key', async () => {
    const { sourceInBucket } = await move({ full: ['destination.dst_1'], moved: { ...MOVED, cells: ['eu'] } });
    assert.deepEqual(sourceInBucket.cells, ['eu']);
  });
});
