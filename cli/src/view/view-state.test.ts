import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { draw, type Screen } from './draw.ts';
import type { Row } from './row.ts';
import {
  MAX_BYTES,
  MAX_ROWS,
  move,
  newView,
  selectedRow,
  shownRows,
  togglePause,
  type ViewState,
  waitingRows,
  withFilter,
  withRow,
} from './view-state.ts';

function row(id: number, name = `Event ${id}`, bytes = 100): Row {
  const cells = { time: '12:00:00.000', type: 'track', name, user: 'u1', size: '1 B', status: 'ok' };
  return { id, cells, tone: 'good', bytes, details: () => [{ title: 'Event', lines: [name] }] };
}

function filled(count: number): ViewState {
  let state = newView();
  for (let id = 1; id <= count; id += 1) state = withRow(state, row(id));
  return state;
}

const SCREEN: Screen = { columns: 80, rows: 12, hasColour: false };
const HEADER = { title: 'millrace listen', lines: ['one', 'two'] };
const ids = (state: ViewState) => shownRows(state).map(({ id }) => id);

suite('the list', () => {
  test('follows new rows until one is selected by hand, and again from the last one', () => {
    let state = filled(3);
    assert.equal(state.selectedId, 3);
    state = move(state, -1);
    state = withRow(state, row(4));
    assert.deepEqual([state.selectedId, state.isFollowing], [2, false]);
    state = move(state, Infinity);
    assert.deepEqual([state.selectedId, state.isFollowing], [4, true]);
    assert.equal(withRow(state, row(5)).selectedId, 5);
    assert.equal(move(state, -Infinity).selectedId, 1);
  });

  test('keeps a bounded number of rows and bytes, and selects one that is there', () => {
    let state = move(filled(MAX_ROWS), -Infinity);
    state = withRow(state, row(MAX_ROWS + 1));
    assert.deepEqual([state.rows.length, state.dropped, state.selectedId], [MAX_ROWS, 1, 2]);
    state = withRow(state, row(MAX_ROWS + 2, 'huge', MAX_BYTES));
    assert.deepEqual([state.rows.length, state.bytes], [1, MAX_BYTES]);
    assert.equal(withRow(state, row(5)).rows.length, 1, 'a change to a row that is gone changes nothing');
  });

  test('replaces a row that changes, where it stands', () => {
    const state = withRow(filled(3), { ...row(2, 'Changed'), bytes: 300 });
    assert.deepEqual(ids(state), [1, 2, 3]);
    assert.deepEqual([state.rows[1]?.cells.name, state.bytes], ['Changed', 500]);
  });

  test('stands still while it is paused, and shows what came meanwhile afterwards', () => {
    let state = togglePause(filled(2));
    state = withRow(withRow(state, row(3)), row(4));
    assert.deepEqual([ids(state), waitingRows(state)], [[1, 2], 2]);
    assert.match(draw(state, HEADER, SCREEN)[3] ?? '', /─ PAUSED, 2 new · 4 entries ──/);
    assert.deepEqual(ids(togglePause(state)), [1, 2, 3, 4]);
  });

  test('shows the rows that a filter matches in any column, in upper and lower case', () => {
    let state = withRow(filled(2), row(3, 'Order Completed'));
    state = withFilter(state, 'order');
    assert.deepEqual([ids(state), selectedRow(state)?.id], [[3], 3]);
    assert.deepEqual(ids(withFilter(state, '')), [1, 2, 3]);
    assert.match(draw(withFilter(state, 'nothing such'), HEADER, SCREEN).join('\n'), /Nothing matches nothing such/);
  });
});

suite('a frame', () => {
  test('has as many lines as the screen, at every size', () => {
    for (const rows of [1, 2, 3, 5, 8, 12, 50]) {
      for (const columns of [1, 10, 20, 40, 80, 200]) {
        for (const mode of ['list', 'details', 'filter'] as const) {
          const lines = draw({ ...filled(30), mode }, HEADER, { columns, rows, hasColour: true });
          assert.equal(lines.length, rows, `${columns} × ${rows}, ${mode}`);
        }
      }
    }
  });

  test('keeps the selected row in sight', () => {
    for (const by of [-29, -20, -10, -1, 0]) {
      const state = move(filled(30), by);
      const shown = draw(state, HEADER, SCREEN).join('\n');
      assert.match(shown, new RegExp(`›.*Event ${state.selectedId} `), `${by}`);
    }
  });

  test('says so when the details of a row are shown that is gone', () => {
    const state = { ...newView(), mode: 'details' as const, selectedId: 7 };
    assert.match(draw(state, HEADER, SCREEN).join('\n'), /This entry is gone/);
  });
});
