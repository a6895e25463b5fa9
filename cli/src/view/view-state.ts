/**
 * The state of the full-screen view, as pure functions. The list follows new rows until a row is selected by hand, and again when the
 * selection comes back to the last row. Paused, it shows the rows that were there when it was paused; new ones are kept behind them.
 */
import type { Row } from './row.ts';

export type ViewState = {
  /** Oldest first. */
  rows: readonly Row[];
  bytes: number;
  /** Rows that were given up for newer ones. */
  dropped: number;
  mode: 'list' | 'details' | 'filter' | 'help';
  selectedId: number | undefined;
  isFollowing: boolean;
  /** The last row that a paused list shows. */
  pausedAt: number | undefined;
  filter: string;
  /** Of the details, in lines. */
  scroll: number;
  /** One sentence, until the next key. */
  message: string;
};

export const MAX_ROWS = 5_000;
export const MAX_BYTES = 33_554_432;

export function newView(): ViewState {
  return {
    rows: [],
    bytes: 0,
    dropped: 0,
    mode: 'list',
    selectedId: undefined,
    isFollowing: true,
    pausedAt: undefined,
    filter: '',
    scroll: 0,
    message: '',
  };
}

/** Adds a row, or replaces the one with the same id. The oldest give way. */
export function withRow(state: ViewState, row: Row): ViewState {
  const isNew = row.id > (state.rows.at(-1)?.id ?? -Infinity);
  const at = isNew ? -1 : state.rows.findLastIndex(({ id }) => id === row.id);
  // A change to a row that was given up.
  if (!isNew && at === -1) return state;
  const rows = at === -1 ? [...state.rows, row] : state.rows.with(at, row);
  let bytes = state.bytes + row.bytes - (at === -1 ? 0 : (state.rows[at]?.bytes ?? 0));
  let drop = 0;
  while (rows.length - drop > 1 && (rows.length - drop > MAX_ROWS || bytes > MAX_BYTES)) {
    bytes -= rows[drop]?.bytes ?? 0;
    drop += 1;
  }
  const kept = drop === 0 ? rows : rows.slice(drop);
  return follow({ ...state, rows: kept, bytes, dropped: state.dropped + drop });
}

/** The rows that the list shows now. */
export function shownRows({ rows, filter, pausedAt }: ViewState): readonly Row[] {
  const wanted = filter.toLowerCase();
  if (wanted === '' && pausedAt === undefined) return rows;
  return rows.filter(
    (row) => (pausedAt === undefined || row.id <= pausedAt) && (wanted === '' || isMatch(row, wanted)),
  );
}

function isMatch({ cells }: Row, wanted: string): boolean {
  return Object.values(cells).some((text) => text.toLowerCase().includes(wanted));
}

export function selectedRow(state: ViewState): Row | undefined {
  return shownRows(state).find(({ id }) => id === state.selectedId);
}

/** Moves the selection by so many rows; coming to the end, the list follows again. */
export function move(state: ViewState, by: number): ViewState {
  const shown = shownRows(state);
  const at = shown.findIndex(({ id }) => id === state.selectedId);
  const from = at === -1 ? shown.length - 1 : at;
  const to = Math.max(0, Math.min(shown.length - 1, from + by));
  const row = shown[to];
  if (row === undefined) return state;
  return { ...state, selectedId: row.id, isFollowing: to === shown.length - 1 && by > 0, scroll: 0 };
}

export function withFilter(state: ViewState, filter: string): ViewState {
  return follow({ ...state, filter, isFollowing: true });
}

export function togglePause(state: ViewState): ViewState {
  if (state.pausedAt !== undefined) return follow({ ...state, pausedAt: undefined });
  return { ...state, pausedAt: state.rows.at(-1)?.id ?? -1 };
}

/** How many rows wait behind the pause. */
export function waitingRows({ rows, pausedAt }: ViewState): number {
  return pausedAt === undefined ? 0 : rows.filter(({ id }) => id > pausedAt).length;
}

/** Keeps the selection on the last row while following, and on a row that exists. */
function follow(state: ViewState): ViewState {
  if (state.mode === 'details') return state;
  const shown = shownRows(state);
  const isGone = !shown.some(({ id }) => id === state.selectedId);
  if (!state.isFollowing && !isGone) return state;
  const row = state.isFollowing ? shown.at(-1) : shown[0];
  return { ...state, selectedId: row?.id };
}
