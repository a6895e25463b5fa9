/** The parts of a backup. `manifest.json` is written last and by a rename: a folder without one is not a backup. */
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { DatabaseState } from '@millrace/server/database-facts';
import type { StreamFacts } from '@millrace/server/stream-copies';
import { Failure } from '../../output/failures.ts';

export type FileFacts = { file: string; bytes: number; sha256: string };
/** The supplement holds what was stored after the beginning of the snapshot; absent when that was nothing. */
export type StreamCopy = FileFacts & { stream: StreamFacts; supplement?: FileFacts & { messages: number } };

export type Manifest = {
  format: 1;
  /** The version of Millrace that wrote it. */
  version: string;
  /** Everything that was acknowledged before this moment, by the clock of NATS, is in the backup. */
  point: string;
  finishedAt: string;
  nats: { version: string; servers: number };
  streams: StreamCopy[];
  /** Null when the backup was made without the database. */
  database: (FileFacts & { state: DatabaseState; migrations: string[]; leastVersion: string }) | null;
  notes: string[];
};

export const MANIFEST = 'manifest.json';

export function readManifest(dir: string): Manifest {
  const path = join(dir, MANIFEST);
  if (!existsSync(path)) {
    const what = existsSync(dir)
      ? `${dir} has no ${MANIFEST}: it is no backup, or one that did not finish`
      : `${dir} does not exist`;
    throw new Failure(`${what}.`, { exit: 'notFound', todo: 'Name the folder of a finished backup in --from.' });
  }
  try {
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
    if (manifest.format !== 1)
      throw new Error(`its format is ${String(manifest.format)}, and this version reads format 1`);
    return manifest;
  } catch (error) {
    throw new Failure(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}.`, {
      todo: 'Use another backup, or a newer version of Millrace if a newer one wrote it.',
    });
  }
}

export function filesOf({ streams, database }: Manifest): FileFacts[] {
  const files = streams.flatMap((copy) => (copy.supplement === undefined ? [copy] : [copy, copy.supplement]));
  return database === null ? files : [...files, database];
}

/** Reads every file whole; the problems that it finds, in sentences. */
export async function checkFiles(dir: string, manifest: Manifest, onFile?: (file: string) => void): Promise<string[]> {
  const problems: string[] = [];
  for (const { file, bytes, sha256 } of filesOf(manifest)) {
    onFile?.(file);
    const path = join(dir, file);
    if (!existsSync(path)) problems.push(`${file} is missing`);
    else if (statSync(path).size !== bytes)
      problems.push(`${file} has ${statSync(path).size} bytes instead of ${bytes}: it is cut off or was changed`);
    else if ((await hashOf(path)) !== sha256)
      problems.push(`${file} does not have the checksum of the manifest: it is damaged`);
  }
  return problems;
}

export async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
