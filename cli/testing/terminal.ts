/** A program in a real pseudo-terminal, made by `script` of util-linux, with the screen that a terminal would show. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import headless from '@xterm/headless';
import { until } from '../../server/testing/until.ts';
import { MILLRACE } from './run-millrace.ts';

const PATIENCE_MS = 60_000;

export type Size = { columns: number; rows: number };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export async function openInTerminal(
  args: readonly string[],
  { size = { columns: 110, rows: 24 }, env = {} }: { size?: Size; env?: Record<string, string> } = {},
) {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-terminal-'));
  const quoted = [process.execPath, MILLRACE, ...args]
    .map((arg) => `'${arg.replaceAll("'", String.raw`'\''`)}'`)
    .join(' ');
  const facts = `tty > '${dir}/tty'; echo $$ > '${dir}/pid'`;
  const command = `stty cols ${size.columns} rows ${size.rows}; ${facts}; exec ${quoted}`;
  // oxlint-disable-next-line node/no-process-env -- the environment of the test, for its program
  const { NO_COLOR: _, ...inherited } = process.env;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...inherited, TERM: 'xterm-256color', SHELL: '/bin/sh', ...env },
  });
  // A key may come after the program has ended.
  child.stdin.on('error', () => undefined);
  const screen = new headless.Terminal({
    cols: size.columns,
    rows: size.rows,
    allowProposedApi: true,
    scrollback: 1_000,
  });
  let raw = '';
  child.stdout.on('data', (data: Buffer) => {
    raw += data.toString();
    screen.write(data);
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const lines = () => {
    const { active } = screen.buffer;
    return Array.from(
      { length: screen.rows },
      (_each, at) => active.getLine(active.baseY + at)?.translateToString(true) ?? '',
    );
  };
  const text = () => lines().join('\n');
  return {
    lines,
    text,
    raw: () => raw,
    /** `alternate` while the view has the screen. */
    buffer: () => screen.buffer.active.type,
    pid: () => Number(readFileSync(`${dir}/pid`, 'utf8')),
    ended,
    press: (keys: string) => void child.stdin.write(keys),
    async shows(wanted: string | RegExp): Promise<void> {
      const isShown = () => (typeof wanted === 'string' ? text().includes(wanted) : wanted.test(text()));
      await until(isShown, PATIENCE_MS).catch(() => {
        throw new Error(`The screen never showed ${String(wanted)}:\n${text()}`);
      });
    },
    resize({ columns, rows }: Size): void {
      screen.resize(columns, rows);
      const tty = readFileSync(`${dir}/tty`, 'utf8').trim();
      execFileSync('stty', ['-F', tty, 'cols', String(columns), 'rows', String(rows)]);
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      child.kill('SIGKILL');
      await ended;
      screen.dispose();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export type TerminalProgram = Awaited<ReturnType<typeof openInTerminal>>;
