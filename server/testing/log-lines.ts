import { type Logger, pino } from 'pino';

export type LogLine = Record<string, unknown> & { msg: string };

/** A log whose lines a test reads: the signal to wait for where a process shows nothing else. */
export function openLogLines(): { log: Logger; lines: LogLine[]; of(event: string): LogLine[] } {
  const lines: LogLine[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) });
  return { log, lines, of: (event) => lines.filter(({ msg }) => msg === event) };
}
