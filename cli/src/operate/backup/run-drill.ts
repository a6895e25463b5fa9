/** A restore drill: a backup goes into throwaway engines, and the counts there are held against those of its manifest. */
import { readDatabaseState } from '@millrace/server/database-facts';
import { openStreamCopies } from '@millrace/server/stream-copies';
import { reaching } from '../unreachable.ts';
import type { Manifest } from './manifest.ts';
import { restoreBackup, type RestoreNeeds } from './restore-backup.ts';

export type Compared = { part: string; expected: number; found: number };
export type Drill = { manifest: Manifest; compared: Compared[]; seconds: number };

export async function runDrill(needs: RestoreNeeds): Promise<Drill> {
  const startedAt = performance.now();
  const { manifest } = await restoreBackup(needs);
  const compared = [...(await compareStreams(needs, manifest)), ...(await compareDatabase(needs, manifest))];
  return { manifest, compared, seconds: Math.round((performance.now() - startedAt) / 100) / 10 };
}

/** Messages that expired or were acknowledged while the snapshot was taken are in neither; so the last sequence is compared. */
async function compareStreams({ natsUrl, natsFiles }: RestoreNeeds, { streams }: Manifest): Promise<Compared[]> {
  await using copies = await reaching('NATS', () => openStreamCopies({ natsUrl, natsFiles }));
  const there = new Map((await copies.list()).map((stream) => [stream.name, stream]));
  return streams.map(({ stream: { name, config, lastSequence }, supplement }) => {
    const expected = lastSequence + (supplement?.messages ?? 0);
    const last = there.get(name)?.lastSequence ?? -1;
    // NATS itself adds a message for every restored ticket that is due by now.
    const found = config.allow_msg_schedules === true ? Math.min(last, expected) : last;
    return { part: `${name}, last sequence`, expected, found };
  });
}

async function compareDatabase({ databaseUrl }: RestoreNeeds, { database }: Manifest): Promise<Compared[]> {
  if (databaseUrl === undefined || database === null) return [];
  const { rows } = await reaching('PostgreSQL', () => readDatabaseState(databaseUrl));
  return Object.entries(database.state.rows ?? {}).map(([table, expected]) => ({
    part: `rows of ${table}`,
    expected,
    found: rows?.[table as keyof typeof rows] ?? -1,
  }));
}
