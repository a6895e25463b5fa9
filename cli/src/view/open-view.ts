/** The full-screen view of `millrace listen` and `millrace tail`: a list that follows, with details, resend and copy as curl. */
import type { Key } from 'node:readline';
import process from 'node:process';
import { draw, type Header, maxScroll, type Screen } from './draw.ts';
import type { Row } from './row.ts';
import { openTerminal } from './terminal.ts';
import {
  move,
  newView,
  selectedRow,
  shownRows,
  togglePause,
  type ViewState,
  withFilter,
  withRow,
} from './view-state.ts';

export type View = Disposable & {
  /** Adds a row, or replaces the one with the same id. */
  show(row: Row): void;
  setHeader(header: Header): void;
  /** Resolves when the person ends the view, with the way they did it. */
  ended: Promise<'quit' | 'interrupted' | 'terminated'>;
};

export type ViewNeeds = { header: Header };

/** Frames are at least this far apart: more would only heat the machine. */
const FRAME_MS = 33;
const PAGE = 10;

/** Whether the view can be shown: both ends are terminals, and the terminal can move its cursor. */
export function canView(): boolean {
  // oxlint-disable-next-line node/no-process-env -- TERM tells whether the terminal can move its cursor
  return process.stdin.isTTY && process.stdout.isTTY && process.env['TERM'] !== 'dumb';
}

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openView({ header: firstHeader }: ViewNeeds): View {
  const ended = Promise.withResolvers<'quit' | 'interrupted' | 'terminated'>();
  let state = newView();
  let header = firstHeader;
  let timer: NodeJS.Timeout | undefined;

  const terminal = openTerminal({
    input: process.stdin,
    output: process.stdout,
    onKey: pressed,
    onResize: () => change({}),
    onSignal: (signal) => ended.resolve(signal === 'SIGINT' ? 'interrupted' : 'terminated'),
  });
  const screen = (): Screen => ({ ...terminal.size(), hasColour: terminal.hasColour });

  function change(changes: Partial<ViewState>): void {
    state = { ...state, ...changes };
    timer ??= setTimeout(() => {
      timer = undefined;
      terminal.show(draw(state, header, screen()));
    }, FRAME_MS);
  }

  function pressed({ name, text, ctrl }: Key & { text: string }): void {
    if (ctrl === true && name === 'c') return ended.resolve('interrupted');
    if (ctrl === true && name === 'z') return terminal.suspend();
    if (ctrl === true && name === 'l') return redraw();
    if (state.mode === 'filter') return typed(name ?? '', text);
    change({ message: '' });
    if (state.mode === 'details') inDetails(name ?? '', text);
    else inList(name ?? '', text);
  }

  function redraw(): void {
    terminal.show([]);
    change({});
  }

  function typed(name: string, text: string): void {
    if (name === 'return' || name === 'enter') return change({ mode: 'list' });
    if (name === 'escape') return change({ ...withFilter(state, ''), mode: 'list' });
    if (name === 'backspace') return change(withFilter(state, state.filter.replace(/.$/u, '')));
    if (/^[^\p{Cc}]+$/u.test(text)) change(withFilter(state, `${state.filter}${text}`));
  }

  function inList(name: string, text: string): void {
    const by = MOVES[text] ?? MOVES[name];
    if (by !== undefined) return change(move(state, by));
    if (name === 'return' || name === 'enter' || name === 'd') return openDetails();
    if (name === 'escape') return change(withFilter(state, ''));
    if (name === 'p') return change(togglePause(state));
    if (text === '/') return change({ mode: 'filter' });
    common(name);
  }

  function openDetails(): void {
    if (selectedRow(state) !== undefined) change({ mode: 'details', scroll: 0, isFollowing: false });
  }

  function inDetails(name: string, text: string): void {
    if (name === 'escape' || name === 'd' || name === 'backspace') {
      const isLast = shownRows(state).at(-1)?.id === state.selectedId;
      return change({ mode: 'list', isFollowing: isLast });
    }
    if (name === 'left' || name === 'right')
      return change({ ...move(state, name === 'left' ? -1 : 1), mode: 'details' });
    const by = MOVES[text] ?? MOVES[name];
    if (by === undefined) return common(name);
    change({ scroll: Math.max(0, Math.min(maxScroll(state, header, screen()), state.scroll + by)) });
  }

  function common(name: string): void {
    if (name === 'q') return ended.resolve('quit');
    const row = selectedRow(state);
    if (name === 'r') return resend(row);
    if (name !== 'c') return;
    const command = row?.curl?.();
    if (command === undefined)
      return change({ message: 'There is no request to copy: nothing was sent for this entry.' });
    terminal.copy(command);
    change({
      message:
        'Copied as curl, if your terminal allows it (OSC 52); the command also stands at the end of the details.',
    });
  }

  function resend(row: Row | undefined): void {
    if (row?.resend === undefined) return change({ message: 'This entry cannot be sent again: it was not forwarded.' });
    change({ message: 'Sending it again …' });
    row.resend().then(
      (message) => change({ message }),
      (error: unknown) => change({ message: error instanceof Error ? error.message : String(error) }),
    );
  }

  change({});
  return {
    ended: ended.promise,
    show: (row) => change(withRow(state, row)),
    setHeader(given) {
      header = given;
      change({});
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      terminal[Symbol.dispose]();
    },
  };
}

const MOVES: Readonly<Record<string, number>> = {
  up: -1,
  k: -1,
  down: 1,
  j: 1,
  pageup: -PAGE,
  pagedown: PAGE,
  space: PAGE,
  home: -Infinity,
  g: -Infinity,
  end: Infinity,
  G: Infinity,
};
