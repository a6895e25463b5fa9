/** A restore drill: a backup goes into throwaway engines, and the counts there are held against those of its manifest. */
import { readDatabaseState } from '@millrace/server/database-facts';
import { openStreamCopies } from '@millrace/server/stream-copies';
import { Failure } from '../../output/failures.ts';
import { reaching } from '../unreachable.ts';
import type { Manifest } from './manifest.ts';
import { restoreBackup, type RestoreNeeds } from './restore-backup.ts';

export type Compared = { part: string; expected: number; found: number };
export type Drill = { manifest: Manifest; compared: Compared[]; seconds: number };

export async function runDrill(needs: RestoreNeeds): Promise<Drill> {
  if (!needs.isForced) await refuseFull(needs);
  const startedAt = performance.now();
  const { manifest } = await restoreBackup(needs);
  const compared = [...(await compareStreams(needs, manifest)), ...(await compareDatabase(needs, manifest))];
  return { manifest, compared, seconds: Math.round((performance.now() - startedAt) / 100) / 10 };
}

/** An address alone does not tell whose engine that is: another name may lead to the one of production. */
async function refuseFull({ natsUrl, natsFiles, databaseUrl }: RestoreNeeds): Promise<void> {
  await using copies = await reaching('NATS', () => openStreamCopies({ natsUrl, natsFiles }));
  const streams = await copies.list();
  const tables =
    databaseUrl === undefined ? 0 : (await reaching('PostgreSQL', () => readDatabaseState(databaseUrl))).tables;
  const full = [
    ...(streams.length > 0 ? [`NATS has ${streams.length} streams (${streams[0]?.name} …)`] : []),
    ...(tables > 0 ? [`the database has ${tables} tables`] : []),
  ];
  if (full.length === 0) return;
  throw new Failure(`The engines of the drill are not empty: ${full.join(', and ')}. Nothing was changed.`, {
    exit: 'refused',
    todo: 'Start new engines for the drill. If these hold nothing but an earlier drill, add --force to delete their streams and tables.',
  });
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
