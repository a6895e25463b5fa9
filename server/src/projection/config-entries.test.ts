import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { SourceConfig } from '../domain/configuration.ts';
import type { ProjectedSource } from '../store/projection.ts';
import { sourceEntry } from './config-entries.ts';

const ROW: ProjectedSource = {
  workspace_id: 'ws_1',
  id: 'src_1',
  kind: 'collected',
  name: 'Web',
  enabled: true,
  rate_limit_per_second: null,
  key_hashes: [],
  blocked_events: [],
  limits: null,
  cell: 'main',
  spare: null,
  next_cell: null,
  next_spare: null,
  former_cells: [],
};

function cellsIn(change: Partial<ProjectedSource>) {
  const { cell, spare, cells } = JSON.parse(sourceEntry({ ...ROW, ...change }).value) as SourceConfig;
  return { cell, spare, cells };
}

suite('the entry of a source', () => {
  test('says nothing of cells in an installation with one', () => {
    assert.deepEqual(cellsIn({}), { cell: undefined, spare: undefined, cells: undefined });
  });

  test('names the old cell while the source is on its way, and lets deliver in the new one know already', () => {
    const moving = { spare: 'us', next_cell: 'eu', next_spare: 'asia', former_cells: ['old'] };
    assert.deepEqual(cellsIn(moving), { cell: undefined, spare: 'us', cells: ['main', 'us', 'eu', 'asia', 'old'] });
    const arrived = { cell: 'eu', spare: 'asia', former_cells: ['main', 'old', 'us'] };
    assert.deepEqual(cellsIn(arrived), { cell: 'eu', spare: 'asia', cells: ['eu', 'asia', 'main', 'old', 'us'] });
  });

  test('names no cell for a new source: its own may not know it yet', () => {
    const made = { cell: 'eu', spare: 'main', next_cell: 'eu', next_spare: 'main' };
    assert.deepEqual(cellsIn(made), { cell: '?', spare: undefined, cells: ['eu', 'main'] });
  });
});
