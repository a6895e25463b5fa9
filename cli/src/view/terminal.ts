/**
 * The terminal while the view has it: alternate screen, no cursor, raw keys. It is given back on every way out: when the view is
 * disposed, at the end of the process, on SIGTERM, SIGHUP and SIGINT, and before a crash prints its stack.
 */
import { writeSync } from 'node:fs';
import process from 'node:process';
import { emitKeypressEvents, type Key } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';

export type Terminal = Disposable & {
  size(): { columns: number; rows: number };
  hasColour: boolean;
  /** Draws these lines; only those that changed are written. */
  show(lines: readonly string[]): void;
  /** Puts a text on the clipboard of the terminal's machine (OSC 52), where the terminal allows it. */
  copy(text: string): void;
  /** Ctrl-Z: gives the terminal back, and takes it again when the shell continues the process. */
  suspend(): void;
};

export type TerminalNeeds = {
  input: ReadStream;
  output: WriteStream;
  onKey(key: Key & { text: string }): void;
  onResize(): void;
  /** A signal that ends the process arrived; the terminal has been given back. */
  onSignal(signal: NodeJS.Signals): void;
};

/** Alternate screen, hidden cursor, no line wrap, bracketed paste off. */
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J';
const CLEAR = '\x1b[2J';
const LEAVE = '\x1b[?7h\x1b[?25h\x1b[0m\x1b[?1049l';
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const STDOUT = 1;
/** Longer texts are refused by many terminals. */
const MAX_COPIED_BYTES = 74_000;

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openTerminal({ input, output, onKey, onResize, onSignal }: TerminalNeeds): Terminal {
  let isOurs = false;
  let shown: readonly string[] = [];

  function enter(): void {
    isOurs = true;
    shown = [];
    input.setRawMode(true);
    output.write(ENTER);
  }

  /** Synchronous: after a crash nothing else would be written. */
  function leave(): void {
    if (!isOurs) return;
    isOurs = false;
    try {
      input.setRawMode(false);
      writeSync(STDOUT, LEAVE);
    } catch {
      // The terminal itself is gone.
    }
  }

  const keyed = (text: string | undefined, key: Key) => onKey({ ...key, text: text ?? '' });
  const resized = () => {
    shown = [];
    output.write(CLEAR);
    onResize();
  };
  const continued = () => {
    enter();
    onResize();
  };
  const signalled = (signal: NodeJS.Signals) => {
    leave();
    onSignal(signal);
  };

  emitKeypressEvents(input);
  input.on('keypress', keyed);
  output.on('resize', resized);
  process.on('exit', leave);
  process.on('uncaughtExceptionMonitor', leave);
  for (const signal of SIGNALS) process.on(signal, signalled);
  input.resume();
  enter();

  return {
    size: () => ({ columns: output.columns, rows: output.rows }),
    hasColour: output.hasColors(),
    show(lines) {
      if (!isOurs) return;
      const changes = lines.map((line, at) => (line === shown[at] ? '' : `\x1b[${at + 1};1H\x1b[2K${line}`)).join('');
      shown = lines;
      // Terminals that know synchronized updates show the frame at once; others ignore the marks.
      if (changes !== '') output.write(`\x1b[?2026h${changes}\x1b[?2026l`);
    },
    copy(text) {
      if (Buffer.byteLength(text) <= MAX_COPIED_BYTES)
        output.write(`\x1b]52;c;${Buffer.from(text).toString('base64')}\x07`);
    },
    suspend() {
      leave();
      process.once('SIGCONT', continued);
      process.kill(process.pid, 'SIGSTOP');
    },
    [Symbol.dispose]() {
      leave();
      input.off('keypress', keyed);
      input.pause();
      output.off('resize', resized);
      process.off('exit', leave);
      process.off('uncaughtExceptionMonitor', leave);
      process.off('SIGCONT', continued);
      for (const signal of SIGNALS) process.off(signal, signalled);
    },
  };
}
