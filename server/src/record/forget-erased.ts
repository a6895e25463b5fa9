import { namesIn, userHash } from '../domain/withheld.ts';
import { erasureMarks } from '../store/erased-users.ts';
import type { Tx } from '../store/open-store.ts';
import type { OutcomeEntry } from '../domain/outcome.ts';
import type { RecordableEntry } from './fold-outcome.ts';

/**
 * Outcomes can arrive after their user was erased: they are recorded without the user's ids and without the receivers'
 * answers. Notifications of a deletion are always recorded without the user.
 */
export async function forgetErased(tx: Tx, entries: readonly OutcomeEntry[]): Promise<RecordableEntry[]> {
  const hashes = entries.flatMap((entry) => hashOf(entry) ?? []);
  const marks = hashes.length === 0 ? new Map<string, Date>() : await erasureMarks(tx, [...new Set(hashes)]);
  return entries.map((entry) => {
    if (entry.type === 'delete') return withoutUser(entry);
    return isErased(entry, marks) ? { ...withoutUser(entry), isErased: true } : entry;
  });
}

function hashOf(entry: OutcomeEntry): string | undefined {
  const [name] = namesIn(entry);
  return name === undefined ? undefined : userHash(entry.workspaceId, name);
}

function isErased(entry: OutcomeEntry, marks: ReadonlyMap<string, Date>): boolean {
  const hash = hashOf(entry);
  if (hash === undefined) return false;
  // For all sources, or for this one.
  const times = [marks.get(`${hash} `), marks.get(`${hash} ${entry.sourceId}`)];
  return times.some((before) => before !== undefined && new Date(entry.receivedAt) < before);
}

function withoutUser(entry: OutcomeEntry): OutcomeEntry {
  const { ...kept } = entry;
  delete kept.userId;
  delete kept.anonymousId;
  if (kept.kind !== 'attempt') return kept;
  return { ...kept, answers: kept.answers.map((answer) => ({ ...answer, body: '' })) };
}
