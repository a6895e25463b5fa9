/**
 * Puts a backup into empty engines. Everything that can be found out before the first change is found out before it: the files are
 * whole, the engines are empty, the versions fit. TICKETS comes first, with a mark at which every role waits; then the other
 * streams and the database in one transaction. The mark goes last: a restore that broke off is not taken for one that finished.
 */
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { prepareForRestore, readDatabaseState } from '@millrace/server/database-facts';
import { RESTORE_MARK, TICKETS_STREAM } from '@millrace/server/layout';
import { migrateDatabase } from '@millrace/server/migrations';
import { openStreamCopies, type StreamCopies } from '@millrace/server/stream-copies';
import { compareVersions, VERSION } from '@millrace/server/version';
import { Failure } from '../../output/failures.ts';
import { bytesIn, type Steps } from '../../output/steps.ts';
import { reaching } from '../unreachable.ts';
import type { BackupNeeds } from './take-backup.ts';
import { checkFiles, type Manifest, readManifest, type StreamCopy } from './manifest.ts';
import { findProgram, runProgram } from './pg-tools.ts';
import { backupOrder } from './stream-order.ts';
import { readSupplementFile } from './supplements.ts';

export type RestoreNeeds = BackupNeeds & {
  /** Of the service, which gets its role in the restored database. */
  serviceUrl: string | undefined;
  /** Replace everything that is there. */
  isForced: boolean;
};

export type Restored = { manifest: Manifest; replicas: number };

export async function restoreBackup(needs: RestoreNeeds): Promise<Restored> {
  const { dir, natsUrl, natsFiles, databaseUrl, progress } = needs;
  const manifest = await readWhole(dir, progress);
  refuseNewer(manifest);
  try {
    await using copies = await reaching('NATS', () => openStreamCopies({ natsUrl, natsFiles }));
    const { servers } = await copies.facts();
    const replicas = servers >= 3 ? 3 : 1;
    const database = databaseUrl === undefined ? null : manifest.database;
    const pgRestore =
      databaseUrl === undefined || database === null ? undefined : await readyDatabase(databaseUrl, needs.isForced);
    await emptyStreams(copies, needs.isForced);
    const ordered = [...manifest.streams.filter(isTickets), ...manifest.streams.filter((copy) => !isTickets(copy))];
    for (const copy of ordered) await restoreOne(copies, { dir, copy, replicas, progress });
    if (databaseUrl !== undefined && database !== null && pgRestore !== undefined) {
      progress.step(`database, ${bytesIn(database.bytes)}`);
      await prepareForRestore(databaseUrl, { isForced: needs.isForced });
      const flags = ['--no-owner', '--exit-on-error', '--single-transaction', '--enable-row-security'];
      const args = [...flags, '--dbname', nameOf(databaseUrl), join(dir, database.file)];
      await runProgram({ path: pgRestore, args, databaseUrl });
      await migrateDatabase(databaseUrl, needs.serviceUrl);
    }
    progress.step('replicas of all streams');
    await assertReplicated(copies, ordered, replicas);
    if (manifest.streams.some(isTickets)) await copies.unmarkRestore();
    return { manifest, replicas };
  } finally {
    progress.end();
  }
}

/** The stream that carries the mark of a restore under way. */
const isTickets = ({ stream }: StreamCopy): boolean => stream.name === TICKETS_STREAM;

function marked<Config extends { metadata?: Record<string, string> }>(config: Config): Config {
  return { ...config, metadata: { ...config.metadata, [RESTORE_MARK]: 'under way' } };
}

function nameOf(databaseUrl: string): string {
  return decodeURIComponent(new URL(databaseUrl).pathname.slice(1));
}

/** Reads the whole backup once; fails with every damaged file. */
export async function readWhole(dir: string, progress: Steps): Promise<Manifest> {
  const manifest = readManifest(dir);
  const problems = await checkFiles(dir, manifest, (file) => progress.step(`checking ${file}`));
  progress.end();
  if (problems.length === 0) return manifest;
  throw new Failure(`The backup in ${dir} is not whole:\n${problems.map((each) => `  ${each}`).join('\n')}`, {
    exit: 'findings',
    todo: 'Copy it again from where it is kept, or use another backup. Nothing was restored.',
  });
}

function refuseNewer({ database, version }: Manifest): void {
  if (database === null || compareVersions(database.leastVersion, VERSION) <= 0) return;
  throw new Failure(
    `The backup was made by version ${version}, and its database needs ${database.leastVersion} or newer; this is ${VERSION}.`,
    { todo: `Restore it with version ${database.leastVersion} or newer.` },
  );
}

async function readyDatabase(databaseUrl: string, isForced: boolean): Promise<string> {
  const state = await reaching('PostgreSQL', () => readDatabaseState(databaseUrl));
  if (state.tables > 0 && !isForced) {
    throw new Failure(`The database is not empty: it has ${state.tables} tables.`, {
      exit: 'refused',
      todo: 'Restore into a new database (CREATE DATABASE), or add --force to drop everything that is in its schema public.',
    });
  }
  return findProgram('pg_restore', state.versionNumber);
}

async function emptyStreams(copies: StreamCopies, isForced: boolean): Promise<void> {
  const there = await copies.list();
  const ours = there.filter(({ name }) => backupOrder([name]).length > 0);
  for (const { name } of ours) {
    const running = (await copies.consumers(name)).find(({ waiting }) => waiting > 0);
    if (running === undefined) continue;
    throw new Failure(
      `A Millrace process still works on the stream ${name}: its consumer ${running.name} waits for messages.`,
      {
        exit: 'refused',
        todo: 'Stop every Millrace process first, and start them when the restore is done.',
      },
    );
  }
  // Control makes empty streams at its start; buckets hold no more than it writes there itself.
  const full = ours.filter(({ name, messages }) => messages > 0 && !name.startsWith('KV_'));
  if (full.length > 0 && !isForced) {
    const list = full.map(({ name, messages }) => `${name} (${messages} messages)`).join(', ');
    throw new Failure(`NATS is not empty: ${list}.`, {
      exit: 'refused',
      todo: 'Restore into new servers, or add --force to delete these streams with everything in them.',
    });
  }
  for (const { name } of ours) await copies.remove(name);
}

type One = { dir: string; copy: StreamCopy; replicas: number; progress: Steps };

/**
 * With all replicas at once NATS need not sync each message by itself. Large streams have failed that way in older versions: then
 * one replica takes the stream, and the others follow. But not of a stream with schedules: NATS does not fire those that come due
 * while it adds replicas, until the stream's leader changes. So all replicas are tried again.
 */
export async function restoreOne(copies: StreamCopies, { dir, copy, replicas, progress }: One): Promise<void> {
  const { name, messages } = copy.stream;
  const config = isTickets(copy) ? marked(copy.stream.config) : copy.stream.config;
  const wanted = wantedOf(copy, replicas);
  progress.step(`stream ${name}, ${messages} messages, ${bytesIn(copy.bytes)}`);
  let isAlone = false;
  const attempt = async () => {
    const chunks = watched(createReadStream(join(dir, copy.file)), (bytes) =>
      progress.update(`${bytesIn(bytes)} sent`),
    );
    await copies.restore({ config: { ...config, num_replicas: isAlone ? 1 : wanted }, chunks });
  };
  try {
    await attempt();
  } catch (error) {
    if (wanted === 1) throw explain(error, name);
    await copies.remove(name).catch(() => undefined);
    isAlone = config.allow_msg_schedules !== true;
    await attempt().catch((again: unknown) => {
      throw explain(again, name);
    });
  }
  if (isAlone) await copies.scale(name, wanted);
  await settled(copies, copy);
  if (copy.supplement === undefined) return;
  progress.step(`stream ${name}, ${copy.supplement.messages} messages that were stored during the backup`);
  await copies.restoreSupplement(readSupplementFile(dir, copy.supplement.file)).catch((error: unknown) => {
    throw explain(error, name);
  });
}

async function* watched(
  chunks: AsyncIterable<Buffer>,
  onProgress: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    yield chunk;
    onProgress((bytes += chunk.length));
  }
}

const wantedOf = ({ stream }: Pick<StreamCopy, 'stream'>, replicas: number): number =>
  Math.min(stream.config.num_replicas, replicas);

export async function assertReplicated(
  copies: Pick<StreamCopies, 'whenReplicated'>,
  restored: readonly Pick<StreamCopy, 'stream'>[],
  replicas: number,
): Promise<void> {
  const wanted = restored.map((copy) => ({ name: copy.stream.name, replicas: wantedOf(copy, replicas) }));
  await copies.whenReplicated(wanted).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure(`Everything is restored, but NATS does not keep it as it should: ${why}.`, {
      todo: 'Look at the logs of the NATS servers and mend what they name, then run the restore again with --force. Until then every role waits.',
    });
  });
}

const SETTLED_WITHIN_MS = 120_000;

/** A cluster answers a restore before every server knows the stream and its consumers. */
async function settled(copies: StreamCopies, { stream }: StreamCopy): Promise<void> {
  const giveUpAt = performance.now() + SETTLED_WITHIN_MS;
  for (;;) {
    const [found, consumers] = await Promise.all([
      copies.find(stream.name),
      copies.consumers(stream.name).catch(() => []),
    ]);
    // Ephemeral consumers of readers end by themselves, so there may be fewer, but not of the durable ones.
    if (
      found !== undefined &&
      found.lastSequence >= stream.lastSequence &&
      (consumers.length > 0 || stream.consumers === 0)
    )
      return;
    if (performance.now() > giveUpAt) {
      throw new Failure(`NATS has not made the restored stream ${stream.name} available within two minutes.`, {
        todo: 'Look at the logs of the NATS servers, then run the restore again with --force.',
      });
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function explain(error: unknown, name: string): Failure {
  const why = error instanceof Error ? error.message : String(error);
  return new Failure(`The stream ${name} cannot be restored: ${why}`, {
    todo: 'Mend the cause and run the restore again with --force: it begins from the start. The NATS user needs the rights of docs/run/backup.md, and the servers as much storage as those of the backup.',
  });
}
