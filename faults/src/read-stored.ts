import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { ROOT_DIR } from '@millrace/engines';
import type { Settings } from './server-process.ts';
import type { StoredEvent } from './judge.ts';

type PrintedEvent = { stream: string; sequence: number; sourceId: string; event: PrintedDetail };
type PrintedDetail = { messageId: string; receivedAt: string };

/** Everything the streams hold, as their leaders tell it: the project's own printer in a process of its own. */
export async function readStored(settings: Settings): Promise<StoredEvent[]> {
  const printer = spawn(process.execPath, [join(ROOT_DIR, 'server/src/print-events.ts')], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(printer, 'exit');
  const stored: StoredEvent[] = [];
  for await (const line of linesOf(printer.stdout)) {
    const { stream, sequence, sourceId, event }: PrintedEvent = JSON.parse(line);
    const receivedAt = Date.parse(event.receivedAt) - performance.timeOrigin;
    stored.push({ stream, sequence, sourceId, messageId: event.messageId, receivedAt });
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`print-events ended with ${code}`);
  return stored;
}

/** A reader that saw less than the leader holds must not be believed. */
export function readingProblems(stored: readonly StoredEvent[], counts: ReadonlyMap<string, number>): string[] {
  return [...counts].flatMap(([stream, messages]) => {
    const read = new Set(stored.filter((event) => event.stream === stream).map((event) => event.sequence)).size;
    return read === messages ? [] : [`${stream} holds ${messages} requests, but ${read} were read`];
  });
}

/** By line feeds alone: node:readline also ends a line at U+2028, which JSON may hold as it is. */
async function* linesOf(text: Readable): AsyncGenerator<string> {
  let rest = '';
  for await (const part of text.setEncoding('utf8')) {
    const lines = (rest + String(part)).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}
