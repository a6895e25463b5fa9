import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { SourceConfig } from '../domain/configuration.ts';
import { narrowEntry } from './narrow-entry.ts';

const SOURCE = { id: 'src_1', workspaceId: 'ws_1', name: '', enabled: true, writeKeyHashes: ['k1', 'k2'] };

suite('the entry of a source in a bucket that is full', () => {
  const narrowed = (before: object, after: object) =>
    JSON.parse(narrowEntry('source', JSON.stringify(before), JSON.stringify(after)) ?? '{}') as SourceConfig;

  test('loses keys that were revoked, and gets none that are new', () => {
    assert.deepEqual(narrowed(SOURCE, { ...SOURCE, writeKeyHashes: ['k2', 'k3'] }).writeKeyHashes, ['k2']);
  });

  test('gets the new limits of its workspace, unless they are longer', () => {
    const limits = { laneBytes: 5_000 };
    assert.deepEqual(narrowed({ ...SOURCE, limits }, { ...SOURCE, limits: { laneBytes: 100 } }).limits, {
      laneBytes: 100,
    });
    assert.equal(narrowed({ ...SOURCE, limits }, SOURCE).limits, undefined);
    assert.deepEqual(narrowed({ ...SOURCE, limits }, { ...SOURCE, limits: { laneBytes: 50_000 } }).limits, limits);
    assert.equal(narrowed(SOURCE, { ...SOURCE, limits }).limits, undefined);
  });

  test('stays the same text when nothing is taken away', () => {
    const text = JSON.stringify({ ...SOURCE, limits: { laneBytes: 5_000 }, v: 1 });
    assert.equal(narrowEntry('source', text, text), text);
  });
});
