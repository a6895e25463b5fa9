/** The groups that group calls put a profile into, each with the time of the newest call; the 100 newest are kept. */
import { keptValue } from '@millrace/contract/audiences';
import { type ByteReader, type ByteWriter, readText, writeText } from './bytes.ts';
import { readTime, writeTime } from './buckets.ts';

export const MAX_GROUPS = 100;

export type Groups = Map<string, number>;

export function addGroup(groups: Groups, groupId: string, eventAt: number): void {
  const id = String(keptValue(groupId));
  if ((groups.get(id) ?? Number.NEGATIVE_INFINITY) >= eventAt) return;
  groups.set(id, eventAt);
  if (groups.size > MAX_GROUPS) groups.delete(oldestGroup(groups));
}

function oldestGroup(groups: Groups): string {
  const [[id] = ['']] = [...groups].toSorted(([a, at], [b, otherAt]) => at - otherAt || (a < b ? -1 : 1));
  return id;
}

export function mergeGroups(into: Groups, from: Groups): void {
  for (const [id, at] of from) addGroup(into, id, at);
}

export function writeGroups(to: ByteWriter, groups: Groups): void {
  for (const id of [...groups.keys()].toSorted()) {
    writeText(to, id);
    writeTime(to, groups.get(id) ?? 0);
  }
}

export function readGroups(from: ByteReader, end: number): Groups {
  const groups: Groups = new Map();
  while (from.at < end) {
    const id = readText(from);
    groups.set(id, readTime(from));
  }
  return groups;
}
