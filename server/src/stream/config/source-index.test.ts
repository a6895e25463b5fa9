import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { SourceConfig } from '../../domain/configuration.ts';
import { readSourceConfig } from '../../domain/read-config.ts';
import { indexSources } from './source-index.ts';

function source(id: string, limits?: SourceConfig['limits']): SourceConfig {
  const entry = { id, workspaceId: 'ws_1', name: id, enabled: true, writeKeyHashes: [] };
  return { ...entry, ...(limits === undefined ? {} : { limits }) };
}

function withKeys(id: string, ...writeKeyHashes: string[]): string {
  return JSON.stringify({ ...source(id), writeKeyHashes });
}

suite('a write key', () => {
  test('leads to the source that got it last, whatever becomes of the one that had it', () => {
    const sources = indexSources();
    const owner = () => sources.byKeyHash('key')?.id;
    sources.set('src_1', withKeys('src_1', 'key'));
    assert.equal(owner(), 'src_1');
    sources.set('src_2', withKeys('src_2', 'key'));
    assert.equal(owner(), 'src_2');
    sources.set('src_1', withKeys('src_1', 'another'));
    assert.equal(owner(), 'src_2');
    sources.set('src_1', undefined);
    assert.equal(owner(), 'src_2');
    sources.set('src_2', undefined);
    assert.equal(owner(), undefined);
    sources.set('src_2', withKeys('src_2', 'key'));
    assert.equal(owner(), 'src_2', 'deleted and made again');
  });

  test('stays with its source when an entry of it cannot be read, or is that of another one', () => {
    const sources = indexSources();
    sources.set('src_1', withKeys('src_1', 'key'));
    for (const wrong of ['{"broken', withKeys('src_2', 'key'), JSON.stringify({ ...source('src_1'), v: 99 })]) {
      assert.throws(() => sources.set('src_1', wrong));
      assert.equal(sources.byKeyHash('key')?.id, 'src_1');
    }
  });
});

function text(...given: Parameters<typeof source>): string {
  return JSON.stringify(source(...given));
}

suite('limits of a workspace in the entries of its sources', () => {
  test('are those of the entry that was written last', () => {
    const sources = indexSources();
    sources.set('src_1', text('src_1', { callsPerSecond: 5 }));
    sources.set('src_2', text('src_2', { callsPerSecond: 7 }));
    assert.deepEqual(sources.limits().get('ws_1'), { callsPerSecond: 7 });
    sources.set('src_1', undefined);
    assert.deepEqual(sources.limits().get('ws_1'), { callsPerSecond: 7 }, 'a source that is deleted says nothing');
  });

  test('are the defaults again when an entry comes without them, as an older version writes it', () => {
    const sources = indexSources();
    sources.set('src_1', text('src_1', { laneBytes: 5 }));
    sources.set('src_1', text('src_1'));
    assert.equal(sources.limits().size, 0);
  });

  test('are read with limits that a newer version may have added, and not if one is no number', () => {
    const read = (limits: object) => readSourceConfig(JSON.stringify({ ...source('src_1'), limits }));
    assert.equal(read({ callsPerSecond: 5, cats: 9 }).ok, true);
    for (const wrong of [0, -1, 'many', null]) assert.equal(read({ callsPerSecond: wrong }).ok, false);
  });
});
