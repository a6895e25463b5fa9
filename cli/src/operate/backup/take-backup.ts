/**
 * Takes a backup of a running installation. The order is that of `stream-order.ts`; the backup's point is the moment before the
 * first part. Retries of dead letters move deliveries against the flow: a pass in which one ran is taken again.
 */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { countRedrivesSince, freezeDatabase } from '@millrace/server/database-facts';
import { readMigrationState } from '@millrace/server/migrations';
import { openStreamCopies, type StreamCopies } from '@millrace/server/stream-copies';
import { VERSION } from '@millrace/server/version';
import { Failure } from '../../output/failures.ts';
import { bytesIn, type Steps } from '../../output/steps.ts';
import { reaching } from '../unreachable.ts';
import { type Manifest, MANIFEST, type StreamCopy } from './manifest.ts';
import { findProgram, runProgram } from './pg-tools.ts';
import { backupOrder } from './stream-order.ts';
import { openFileWriter } from './write-file.ts';

export type BackupNeeds = {
  dir: string;
  natsUrl: string;
  natsFiles: NonNullable<Parameters<typeof openStreamCopies>[0]['natsFiles']>;
  /** Undefined: without the database. */
  databaseUrl: string | undefined;
  progress: Steps;
};

const MOST_PASSES = 3;

export async function takeBackup(needs: BackupNeeds): Promise<Manifest> {
  const { dir, natsUrl, natsFiles, databaseUrl, progress } = needs;
  makeFolder(dir);
  try {
    await using copies = await reaching('NATS', () => openStreamCopies({ natsUrl, natsFiles }));
    const facts = await copies.facts();
    const { point, streams, notes } = await copyStreams(copies, needs);
    const database =
      databaseUrl === undefined ? null : await reaching('PostgreSQL', () => dump(dir, databaseUrl, progress));
    const manifest: Manifest = {
      format: 1,
      version: VERSION,
      point: point.toISOString(),
      finishedAt: new Date().toISOString(),
      nats: { version: facts.version, servers: facts.servers },
      streams,
      database,
      notes: database === null ? [...notes, 'Made with --without-database: PostgreSQL is not in it.'] : notes,
    };
    await writeManifest(dir, manifest);
    return manifest;
  } catch (error) {
    // A backup that broke off is none: nothing of it is left to be taken for one.
    for (const name of readdirSync(dir)) rmSync(join(dir, name), { recursive: true, force: true });
    throw error;
  } finally {
    progress.end();
  }
}

function makeFolder(dir: string): void {
  if (existsSync(dir) && readdirSync(dir).length > 0) {
    const what = existsSync(join(dir, MANIFEST))
      ? 'holds a backup already'
      : 'is not empty (perhaps a backup that was interrupted)';
    throw new Failure(`${dir} ${what}.`, {
      exit: 'usage',
      todo: 'Name a new folder in --to, one for each backup; or remove this one.',
    });
  }
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new Failure(`${dir} cannot be made: ${error instanceof Error ? error.message : String(error)}`, {
      todo: 'Choose another folder with --to.',
    });
  }
}

type Pass = { point: Date; streams: StreamCopy[]; notes: string[] };

async function copyStreams(copies: StreamCopies, needs: BackupNeeds): Promise<Pass> {
  const { dir, databaseUrl, progress } = needs;
  for (let pass = 1; ; pass += 1) {
    const { now: point } = await copies.facts();
    const streams = await onePass(copies, needs);
    const redrives =
      databaseUrl === undefined ? 0 : await reaching('PostgreSQL', () => countRedrivesSince(databaseUrl, point));
    if (redrives === 0) return { point, streams, notes: [] };
    if (pass === MOST_PASSES) {
      const note = `Dead letters were being sent again in all ${MOST_PASSES} passes: of those under way, some may be neither in DEAD nor in a lane. Their events are in the event streams.`;
      return { point, streams, notes: [note] };
    }
    progress.step('Dead letters were sent again meanwhile: taking the streams once more');
    rmSync(join(dir, 'streams'), { recursive: true, force: true });
  }
}

async function onePass(copies: StreamCopies, { dir, progress }: BackupNeeds): Promise<StreamCopy[]> {
  const there = await copies.list();
  const order = backupOrder(there.map(({ name }) => name));
  if (order.length === 0) {
    throw new Failure('This NATS account has no streams of Millrace.', {
      exit: 'notFound',
      todo: 'Check MILLRACE_NATS_URL: it may name another account or another cluster.',
    });
  }
  const taken: StreamCopy[] = [];
  for (const name of order) {
    const bytes = there.find((each) => each.name === name)?.bytes ?? 0;
    progress.step(`stream ${name}, ${bytesIn(bytes)}`);
    await using writer = await openFileWriter(dir, `streams/${name}.snapshot`);
    let written = 0;
    const write = async (chunk: Uint8Array) => {
      await writer.write(chunk);
      written += chunk.length;
      progress.update(`${bytesIn(written)} written`);
    };
    const stream = await copies.snapshot(name, { write }).catch((error: unknown) => explain(error, name));
    taken.push({ ...(await writer.finish()), stream });
  }
  return taken;
}

function explain(error: unknown, name: string): never {
  if (error instanceof Failure) throw error;
  const why = error instanceof Error ? error.message : String(error);
  throw new Failure(`The stream ${name} cannot be copied: ${why}`, {
    exit: /permission|no responders|timeout/i.test(why) ? 'unreachable' : 'failed',
    todo: 'The NATS user of the backup needs more rights than a role has: `--nats-url` with the user of docs/run/backup.md. If NATS broke off, run it again.',
  });
}

async function dump(dir: string, databaseUrl: string, progress: Steps): Promise<NonNullable<Manifest['database']>> {
  // The counts of the manifest and the dump are of the same moment, so a drill may compare them.
  await using frozen = await freezeDatabase(databaseUrl);
  const { state, snapshot } = frozen;
  const { applied: migrations, leastVersion } = await readMigrationState(databaseUrl);
  const path = await findProgram('pg_dump', state.versionNumber);
  progress.step(`database, ${bytesIn(state.bytes)}`);
  await using writer = await openFileWriter(dir, 'database.dump');
  let written = 0;
  const args = ['--format=custom', '--enable-row-security', '--no-owner', `--snapshot=${snapshot}`];
  await runProgram({ path, args, databaseUrl }, async (chunk) => {
    await writer.write(chunk);
    written += chunk.length;
    progress.update(`${bytesIn(written)} written`);
  });
  return { ...(await writer.finish()), state, migrations, leastVersion };
}

async function writeManifest(dir: string, manifest: Manifest): Promise<void> {
  const draft = `${MANIFEST}.draft`;
  {
    await using writer = await openFileWriter(dir, draft);
    await writer.write(Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`));
    await writer.finish();
  }
  await rename(join(dir, draft), join(dir, MANIFEST));
  await using folder = await open(dir);
  await folder.sync();
}
