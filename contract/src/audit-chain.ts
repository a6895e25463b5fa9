/** The chain of an audit log: each entry holds the hash of the one before it. The server writes and checks the chain; `checkExport` checks an exported one. */
import { hash } from 'node:crypto';

export type ChainEntry = {
  sequence: number;
  /** ISO 8601, in UTC, with milliseconds. */
  at: string;
  actor: Record<string, string>;
  action: string;
  objectId: string;
  details: Record<string, unknown>;
  /** In hex; 64 zeros before the first entry. */
  previousHash: string;
  hash: string;
};

export const FIRST_HASH = '0'.repeat(64);

export function hashOfEntry(workspaceId: string, entry: Omit<ChainEntry, 'hash'>): string {
  const { sequence, previousHash, at, actor, action, objectId, details } = entry;
  const parts = [workspaceId, sequence, previousHash, at, sorted(actor), action, objectId, sorted(details)];
  return hash('sha256', JSON.stringify(parts));
}

/** jsonb keeps its keys in an order of its own, so the hash is made of keys in ours. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)]);
}

/** The first line of an export, and its last. Without the last line the file is only a part of the log. */
export type ExportHead = { kind: 'millrace-audit-log'; version: 1; workspaceId: string; exportedAt: string };
export type ExportEnd = { kind: 'end'; entries: number; hash: string };

export type CheckedExport =
  | { kind: 'holds'; workspaceId: string; exportedAt: string; entries: number; hash: string }
  /** `line` counts from 1. */
  | { kind: 'broken'; line: number; why: string };

/** Checks an exported log by itself, line by line: every entry with its hash, none missing, none cut off at the end. */
export async function checkExport(lines: AsyncIterable<string> | Iterable<string>): Promise<CheckedExport> {
  let head: ExportHead | undefined;
  let last = { sequence: 0, hash: FIRST_HASH };
  let end: ExportEnd | undefined;
  let line = 0;
  const broken = (why: string): CheckedExport => ({ kind: 'broken', line, why });
  for await (const text of lines) {
    line += 1;
    if (text === '') continue;
    const value = readLine(text);
    if (value === undefined) return broken('the line is not JSON');
    if (end !== undefined) return broken('there are lines after the end');
    if (head === undefined) {
      if (value['kind'] !== 'millrace-audit-log') return broken('the file is no export of an audit log');
      if (value['version'] !== 1) return broken('a newer version of Millrace wrote the file');
      head = value as ExportHead;
    } else if (value['kind'] === 'end') end = value as ExportEnd;
    else {
      const entry = value as ChainEntry;
      const why = linkProblem(head.workspaceId, last, entry);
      if (why !== undefined) return broken(why);
      last = entry;
    }
  }
  if (head === undefined) return broken('the file is empty');
  if (end === undefined) return broken('the file was cut off: its last line is missing');
  if (end.entries !== last.sequence || end.hash !== last.hash) return broken('entries at the end are missing');
  const { workspaceId, exportedAt } = head;
  return { kind: 'holds', workspaceId, exportedAt, entries: end.entries, hash: end.hash };
}

/** Why an entry does not fit the one before it; undefined when it does. */
export function linkProblem(
  workspaceId: string,
  before: Pick<ChainEntry, 'sequence' | 'hash'>,
  entry: ChainEntry,
): string | undefined {
  if (entry.sequence !== before.sequence + 1) return 'an entry is missing';
  const isLinked = entry.previousHash === before.hash && entry.hash === hashOfEntry(workspaceId, entry);
  return isLinked ? undefined : 'an entry was changed';
}

function readLine(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
