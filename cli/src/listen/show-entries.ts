/** Where entries go: lines, JSON or the full-screen view, and a file besides. */
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import process from 'node:process';
import { Failure } from '../output/failures.ts';
import { print, printJsonLine } from '../output/print.ts';
import type { View } from '../view/open-view.ts';
import { lineOf } from '../view/row.ts';
import type { CallEntry, Entry, NewEntry } from './entry.ts';
import { entryJson } from './entry-json.ts';
import { callRow, entryRow, type RowActions } from './entry-row.ts';

export type Entries = AsyncDisposable & {
  /** Shows an entry; returns its id. */
  show(entry: NewEntry): number;
};

export type EntriesNeeds = {
  output: 'json' | 'compact' | 'view';
  view: View | undefined;
  record: string | undefined;
  actions: RowActions;
};

/** The view shows a call and its answer in one row, as long as it remembers the call. */
const MAX_REMEMBERED = 5_000;

export async function openEntries({ output, view, record, actions }: EntriesNeeds): Promise<Entries> {
  const file = record === undefined ? undefined : await openRecord(record);
  const calls = new Map<number, CallEntry>();
  let last = 0;

  function draw(entry: Entry): void {
    if (output === 'json') return printJsonLine(entryJson(entry));
    if (view === undefined) return print(lineOf(entryRow(entry), process.stdout.hasColors?.() ?? false));
    const call = entry.kind === 'forwarded' || entry.kind === 'skipped' ? calls.get(entry.of) : undefined;
    if (call !== undefined && entry.kind === 'forwarded') view.show(callRow(call, actions, entry));
    else if (call !== undefined && entry.kind === 'skipped') view.show(callRow(call, actions, undefined, entry.reason));
    else view.show(entryRow(entry, actions));
  }

  function remember(entry: CallEntry): void {
    const [oldest] = calls.size >= MAX_REMEMBERED ? calls.keys() : [];
    if (oldest !== undefined) calls.delete(oldest);
    calls.set(entry.id, entry);
  }

  return {
    show(given) {
      last += 1;
      const entry: Entry = { ...given, id: last, at: new Date() };
      if (view !== undefined && entry.kind === 'call') remember(entry);
      draw(entry);
      file?.write(`${JSON.stringify(entryJson(entry))}\n`);
      return entry.id;
    },
    async [Symbol.asyncDispose]() {
      if (file === undefined) return;
      file.end();
      await once(file, 'close');
    },
  };
}

async function openRecord(path: string) {
  const file = createWriteStream(path, { flags: 'a', mode: 0o600 });
  await once(file, 'open').catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    const todo = 'Give a file in a folder that you may write.';
    throw new Failure(`The record cannot be written to ${path}: ${why}.`, { todo });
  });
  file.on('error', (error) => process.stderr.write(`millrace: the record ${path} is incomplete: ${error.message}\n`));
  return file;
}
