/**
 * Outcomes for programs that follow them, as the last step of the transaction that records them: both are there, or neither. The lock on
 * the head of a workspace gives its outcomes numbers without gaps, in the order in which transactions become visible, so a reader that has
 * seen a number has seen all before it.
 */
import { randomBytes } from 'node:crypto';
import type { OutcomeEntry } from '../domain/outcome.ts';
import type { Tx } from '../store/open-store.ts';
import { appendChunks, lockExports, type NewChunk } from '../store/outcome-exports.ts';

/** A reader reads chunks as wholes. */
const MOST_IN_CHUNK = 500;

/** `today` is a day whose partition exists. */
export async function exportOutcomes(tx: Tx, entries: readonly OutcomeEntry[], today: string): Promise<void> {
  if (entries.length === 0) return;
  const byWorkspace = Map.groupBy(entries, ({ workspaceId }) => workspaceId);
  const heads = await lockExports(tx, [...byWorkspace.keys()]);
  const chunks = heads.flatMap(({ workspace_id: id, position }) =>
    chunksOf(id, { position, entries: byWorkspace.get(id) ?? [], today }),
  );
  await appendChunks(tx, chunks);
}

type Appended = { position: number; entries: readonly OutcomeEntry[]; today: string };

function chunksOf(workspaceId: string, { position, entries, today }: Appended): NewChunk[] {
  const chunks: NewChunk[] = [];
  for (let from = 0; from < entries.length; from += MOST_IN_CHUNK) {
    const some = entries.slice(from, from + MOST_IN_CHUNK);
    chunks.push({
      workspace_id: workspaceId,
      first_position: position + from + 1,
      last_position: position + from + some.length,
      tag: randomBytes(6).toString('hex'),
      written_on: today,
      outcomes: JSON.stringify(some.map(lineOf)),
    });
  }
  return chunks;
}

/** States, counts and reasons: no contents, nothing of a user, no URL. */
export function lineOf(entry: OutcomeEntry): Record<string, unknown> {
  const { kind, deliveryId, messageId, type, name, sourceId, destinationId, receivedAt, replayId } = entry;
  const ids = { deliveryId, messageId, type, name, sourceId, destinationId, receivedAt, replayId };
  const about = { kind, at: new Date(entry.at).toISOString(), ...ids };
  switch (entry.kind) {
    case 'waiting':
      return { ...about, attempts: entry.attempts };
    case 'given_up':
      return { ...about, attempts: entry.attempts, reason: entry.reason, letter: entry.letter };
    case 'skipped':
      return { ...about, reason: entry.reason, rule: entry.rule };
    case 'attempt': {
      const { attempt, outcome, nextAt, letter } = entry;
      const answers = entry.answers.map(({ status, errorClass, timings }) => ({
        status,
        errorClass,
        totalMs: timings.totalMs,
      }));
      const next = nextAt === undefined ? {} : { nextAt: new Date(nextAt).toISOString() };
      return { ...about, attempt, outcome, ...next, answers, letter };
    }
  }
}
