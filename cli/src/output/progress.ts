/** Progress of long work on standard error: one line that is rewritten on a terminal, a line now and then elsewhere. */
import process from 'node:process';
import { cutTo } from './width.ts';

export type Progress = Disposable & { tell(line: string): void };

const EVERY_MS = 10_000;

export function openProgress(stream: NodeJS.WriteStream = process.stderr, now: () => number = Date.now): Progress {
  let last = '';
  let toldAt = -Infinity;
  const isTerminal = stream.isTTY;
  return {
    tell(line) {
      if (line === last) return;
      if (isTerminal) stream.write(`\r\u001b[K${cutTo(line, Math.max(20, (stream.columns ?? 80) - 1))}`);
      else if (now() - toldAt >= EVERY_MS) {
        stream.write(`${line}\n`);
        toldAt = now();
      }
      last = line;
    },
    [Symbol.dispose]() {
      if (isTerminal && last !== '') stream.write('\r\u001b[K');
    },
  };
}
