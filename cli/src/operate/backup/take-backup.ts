/**
 * Takes a backup of a running installation: the snapshots of all streams, then what was stored meanwhile, then the database. The
 * orders are those of `stream-order.ts`; the backup's point is the moment before the first part.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { freezeDatabase } from '@millrace/server/database-facts';
import { readMigrationState } from '@millrace/server/migrations';
import { openStreamCopies, type StreamCopies } from '@millrace/server/stream-copies';
import { VERSION } from '@millrace/server/version';
import { Failure } from '../../output/failures.ts';
import { bytesIn, type Steps } from '../../output/steps.ts';
import { reaching } from '../unreachable.ts';
import { type Manifest, MANIFEST, type StreamCopy } from './manifest.ts';
import { findProgram, runProgram } from './pg-tools.ts';
import { backupOrder } from './stream-order.ts';
import { takeSupplements } from './supplements.ts';
import { openFileWriter } from './write-file.ts';

export type BackupNeeds = {
  dir: string;
  natsUrl: string;
  natsFiles: NonNullable<Parameters<typeof openStreamCopies>[0]['natsFiles']>;
  /** Undefined: without the database. */
  databaseUrl: string | undefined;
  progress: Steps;
};

const LOCK = 'backup.lock';
const OWN_FILES = ['streams', 'database.dump', `${MANIFEST}.draft`, MANIFEST];

export async function takeBackup(needs: BackupNeeds): Promise<Manifest> {
  const { dir, natsUrl, natsFiles, databaseUrl, progress } = needs;
  makeFolder(dir);
  const lock = lockFolder(dir);
  try {
    await using copies = await reaching('NATS', () => openStreamCopies({ natsUrl, natsFiles }));
    const facts = await copies.facts();
    const taken = await takeSnapshots(copies, needs);
    const streams = await takeSupplements(copies, { dir, taken, progress }).catch((error: unknown) =>
      explain(error, 'of waiting deliveries'),
    );
    const database =
      databaseUrl === undefined ? null : await reaching('PostgreSQL', () => dump(dir, databaseUrl, progress));
    const manifest: Manifest = {
      format: 1,
      version: VERSION,
      point: facts.now.toISOString(),
      finishedAt: new Date().toISOString(),
      nats: { version: facts.version, servers: facts.servers },
      streams,
      database,
      notes: database === null ? ['Made with --without-database: PostgreSQL is not in it.'] : [],
    };
    await writeManifest(dir, manifest);
    return manifest;
  } catch (error) {
    // A backup that broke off is none: nothing of it is left to be taken for one.
    for (const name of OWN_FILES) rmSync(join(dir, name), { recursive: true, force: true });
    throw error;
  } finally {
    rmSync(lock, { force: true });
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

/** Two backups that start at the same time may both find the folder empty: the one that makes this file goes on. */
function lockFolder(dir: string): string {
  const lock = join(dir, LOCK);
  try {
    writeFileSync(lock, `${process.pid}\n`, { flag: 'wx', mode: 0o600 });
    return lock;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const isTaken = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    throw new Failure(isTaken ? `Another backup is writing into ${dir}.` : `${dir} may not be written: ${why}`, {
      exit: isTaken ? 'usage' : 'failed',
      todo: 'Name a new folder in --to, one for each backup.',
    });
  }
}

async function takeSnapshots(copies: StreamCopies, { dir, progress }: BackupNeeds): Promise<StreamCopy[]> {
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
