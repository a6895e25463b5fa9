/** Draws the view: from its state to the lines of the screen. Pure, so that a test can look at every frame. */
import { COLOURS, DIM, placed, RESET, type Row, type Section } from './row.ts';
import { widthOf } from '../output/width.ts';
import { cut, harmless, wrap } from './text-width.ts';
import { selectedRow, shownRows, type ViewState, waitingRows } from './view-state.ts';

export type Screen = { columns: number; rows: number; hasColour: boolean };

/** The lines above the list; texts of ours. */
export type Header = { title: string; lines: readonly string[] };

const BOLD = '\x1b[1m';
const REVERSE = '\x1b[7m';
const FOOTER_LINES = 1;
const MIN_LIST_LINES = 3;

/** Exactly as many lines as the screen has. */
export function draw(state: ViewState, header: Header, screen: Screen): string[] {
  const { rows, columns } = screen;
  if (rows < 3 || columns < 20) return padded([cut('The window is too small.', columns)], rows);
  const top = headerLines(state, header, screen);
  const middleCount = rows - top.length - FOOTER_LINES;
  const middle =
    state.mode === 'details' ? detailLines(state, middleCount, screen) : listLines(state, middleCount, screen);
  return [...top, ...padded(middle, middleCount), footerLine(state, screen)];
}

function headerLines(state: ViewState, { title, lines }: Header, screen: Screen): string[] {
  const most = Math.max(0, Math.min(Math.floor(screen.rows / 3), screen.rows - FOOTER_LINES - MIN_LIST_LINES - 2));
  const own = lines.slice(0, most).map((line) => styled(DIM, cut(`  ${line}`, screen.columns), screen));
  const facts = cut(` ${factsOf(state)} `, Math.max(0, screen.columns - 4));
  const rule = styled(DIM, `${'─'.repeat(Math.max(0, screen.columns - widthOf(facts) - 2))}${facts}──`, screen);
  return [styled(BOLD, cut(` ${title}`, screen.columns), screen), ...own, rule];
}

function listLines(state: ViewState, count: number, screen: Screen): string[] {
  const shown = shownRows(state);
  if (shown.length === 0) {
    const hint = state.filter === '' ? 'Nothing has arrived yet.' : `Nothing matches ${harmless(state.filter)}.`;
    return ['', styled(DIM, cut(`  ${hint}`, screen.columns), screen)];
  }
  const at = shown.findIndex(({ id }) => id === state.selectedId);
  const last = state.isFollowing
    ? shown.length
    : Math.min(shown.length, Math.max(count, at + 1 + Math.floor(count / 2)));
  const first = Math.max(0, last - count);
  return shown.slice(first, last).map((row) => rowLine(row, row.id === state.selectedId, screen));
}

/**
 * Each cell is placed by its column, so that a terminal which draws a character wider than this program believes shifts nothing
 * but that cell.
 */
function rowLine({ cells, tone }: Row, isSelected: boolean, screen: Screen): string {
  const { hasColour, columns } = screen;
  const mark = isSelected ? '›' : ' ';
  const parts = placed(cells, columns).map(({ at, text, cell }) => {
    const colour = isSelected || !hasColour ? '' : cell === 'time' ? DIM : cell === 'status' ? COLOURS[tone] : '';
    return `\x1b[${at}G${colour}${text}${colour === '' ? '' : RESET}`;
  });
  const line = `${mark}${parts.join('')}`;
  // Spaces first, so that the reversed line is whole.
  return isSelected ? `${REVERSE}${' '.repeat(columns)}\r${line}${RESET}` : line;
}

/** The details of the selected row from its scroll position on. */
function detailLines(state: ViewState, count: number, screen: Screen): string[] {
  const row = selectedRow(state);
  if (row === undefined) return ['', cut('  This entry is gone: newer ones took its place.', screen.columns)];
  const all = allDetails(row, screen);
  const most = Math.max(0, all.length - count);
  return all.slice(Math.min(state.scroll, most)).slice(0, count);
}

/** How far the details can be scrolled on this screen. */
export function maxScroll(state: ViewState, header: Header, screen: Screen): number {
  const row = selectedRow(state);
  if (row === undefined) return 0;
  const count = screen.rows - headerLines(state, header, screen).length - FOOTER_LINES;
  return Math.max(0, allDetails(row, screen).length - count);
}

function allDetails(row: Row, screen: Screen): string[] {
  const command = row.curl?.();
  const sections = command === undefined ? row.details() : [...row.details(), { title: 'As curl', lines: [command] }];
  return sections.flatMap((section) => sectionLines(section, screen));
}

function sectionLines({ title, lines, tone = 'plain' }: Section, screen: Screen): string[] {
  const room = Math.max(1, screen.columns - 4);
  const texts = lines.flatMap((line) => wrap(harmless(line), room));
  const colour = COLOURS[tone];
  return [styled(BOLD, `  ${title}`, screen), ...texts.map((text) => `    ${styled(colour, text, screen)}`), ''];
}

const KEYS = {
  list: '[↑↓] select  [d] details  [r] resend  [c] copy as curl  [/] filter  [p] pause  [q] quit',
  details: '[↑↓] scroll  [←→] previous, next  [r] resend  [c] copy as curl  [esc] back  [q] quit',
} as const;

function footerLine(state: ViewState, screen: Screen): string {
  const { columns } = screen;
  if (state.mode === 'filter') return cut(` filter: ${harmless(state.filter)}▏  [enter] keep  [esc] clear`, columns);
  if (state.message !== '') return styled(BOLD, cut(` ${harmless(state.message)}`, columns), screen);
  return cut(` ${KEYS[state.mode === 'details' ? 'details' : 'list']}`, columns);
}

function factsOf(state: ViewState): string {
  const total = (state.rows.length + state.dropped).toLocaleString('en');
  const waiting = waitingRows(state);
  const paused = state.pausedAt === undefined ? '' : `PAUSED, ${waiting.toLocaleString('en')} new · `;
  const filter = state.filter === '' ? '' : `filter ${harmless(state.filter)} · `;
  const kept = state.dropped === 0 ? '' : `, last ${state.rows.length.toLocaleString('en')} kept`;
  return `${paused}${filter}${total} entries${kept}`;
}

function styled(style: string, text: string, { hasColour }: Screen): string {
  return hasColour && style !== '' ? `${style}${text}${RESET}` : text;
}

function padded(lines: readonly string[], count: number): string[] {
  return Array.from({ length: count }, (_, index) => lines[index] ?? '');
}
