import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { SourceConfig } from '../../domain/configuration.ts';
import { readSourceConfig } from '../../domain/read-config.ts';
import { indexSources } from './config-index.ts';

function source(id: string, limits?: SourceConfig['limits']): SourceConfig {
  const entry = { id, workspaceId: 'ws_1', name: id, enabled: true, writeKeyHashes: [] };
  return { ...entry, ...(limits === undefined ? {} : { limits }) };
}

suite('limits of a workspace in the entries of its sources', () => {
  test('are those of the entry that was written last', () => {
    const sources = indexSources();
    sources.set('src_1', source('src_1', { callsPerSecond: 5 }));
    sources.set('src_2', source('src_2', { callsPerSecond: 7 }));
    assert.deepEqual(sources.limits().get('ws_1'), { callsPerSecond: 7 });
    sources.set('src_1', undefined);
    assert.deepEqual(sources.limits().get('ws_1'), { callsPerSecond: 7 }, 'a source that is deleted says nothing');
  });

  test('are the defaults again when an entry comes without them, as an older version writes it', () => {
    const sources = indexSources();
    sources.set('src_1', source('src_1', { laneBytes: 5 }));
    sources.set('src_1', source('src_1'));
    assert.equal(sources.limits().size, 0);
  });

  test('are read with limits that a newer version may have added, and not if one is no number', () => {
    const read = (limits: object) => readSourceConfig(JSON.stringify({ ...source('src_1'), limits }));
    assert.equal(read({ callsPerSecond: 5, cats: 9 }).ok, true);
    for (const wrong of [0, -1, 'many', null]) assert.equal(read({ callsPerSecond: wrong }).ok, false);
  });
});
