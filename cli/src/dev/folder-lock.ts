/**
 * `holder.json` of the data folder: the process that holds the folder, and the engines that it started. Only one process can create the
 * file. A holder that was killed leaves it behind: the next start moves it aside, creates its own, and ends the engines that are left.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../output/failures.ts';
import { endProcess, type KnownProcess, mayRun, startOf } from './processes.ts';

export type EngineProcess = KnownProcess & { name: string; stopSignal: NodeJS.Signals };
type Holder = KnownProcess & { engines: EngineProcess[] };

export type FolderLock = Disposable & { note(engine: EngineProcess): void };

export const HOLDER = 'holder.json';
/** The creation and the first write of the file are two steps: a reader in between waits this long for the text. */
const HALF_WRITTEN_MS = 500;

/** Fails while another process holds the folder. */
export async function lockFolder(dir: string): Promise<FolderLock> {
  const file = join(dir, HOLDER);
  const holder: Holder = { pid: process.pid, startedAt: startOf(process.pid) ?? '', engines: [] };
  while (!create(file, holder)) {
    const before = await readHolder(file);
    if (before.holder !== undefined && mayRun(before.holder)) throw heldBy(before.holder, dir);
    // Noted before they are ended, so that they are known if this process is killed, too.
    holder.engines = before.holder?.engines ?? [];
    moveAside(file, before.text, dir);
  }
  await Promise.all(holder.engines.map((engine) => endProcess(engine, engine.stopSignal)));
  holder.engines = [];
  replace(file, holder);
  return {
    note(engine) {
      holder.engines.push(engine);
      replace(file, holder);
    },
    [Symbol.dispose]() {
      if (isOf(parseHolder(textOf(file)), holder)) rmSync(file, { force: true });
    },
  };
}

/** The holder that a text of the file names; undefined for every other text. */
export function parseHolder(text: string | undefined): Holder | undefined {
  try {
    const { pid, startedAt, engines } = JSON.parse(text ?? '') as Partial<Holder>;
    if (!Number.isSafeInteger(pid) || pid === undefined || pid <= 0) return undefined;
    return typeof startedAt === 'string' && Array.isArray(engines) ? { pid, startedAt, engines } : undefined;
  } catch {
    return undefined;
  }
}

function create(file: string, holder: Holder): boolean {
  try {
    writeFileSync(file, JSON.stringify(holder), { mode: 0o600, flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** A reader sees the old text or the new one, never half of it. */
function replace(file: string, holder: Holder): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(holder), { mode: 0o600 });
  renameSync(draft, file);
}

type Read = { text: string | undefined; holder: Holder | undefined };

async function readHolder(file: string): Promise<Read> {
  const giveUpAt = Date.now() + HALF_WRITTEN_MS;
  for (;;) {
    const text = textOf(file);
    const holder = parseHolder(text);
    if (holder !== undefined || text === undefined || Date.now() > giveUpAt) return { text, holder };
    await sleep(10);
  }
}

/** Another process may have replaced the file since it was read: then that process has won, and gets its file back. */
function moveAside(file: string, expected: string | undefined, dir: string): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const found = textOf(aside);
  if (found === expected) return rmSync(aside, { force: true });
  renameSync(aside, file);
  const winner = parseHolder(found);
  if (winner !== undefined) throw heldBy(winner, dir);
}

function heldBy({ pid, startedAt }: Holder, dir: string): Failure {
  const isCertain = startedAt !== '';
  const otherwise = isCertain ? '' : ` If process ${pid} is another program, remove ${join(dir, HOLDER)}.`;
  return new Failure(`Another \`millrace dev\` (process ${pid}) uses ${dir}.`, {
    todo: `Stop it with Ctrl-C in its terminal, or give this one a folder of its own: --data DIR.${otherwise}`,
  });
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function isOf(found: Holder | undefined, { pid, startedAt }: KnownProcess): boolean {
  return found?.pid === pid && found.startedAt === startedAt;
}
