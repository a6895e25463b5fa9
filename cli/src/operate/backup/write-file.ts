import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../../output/failures.ts';
import type { FileFacts } from './manifest.ts';

export type FileWriter = {
  write(chunk: Uint8Array): Promise<void>;
  /** Resolves when the file is on the disk, as far as the disk says so. */
  finish(): Promise<FileFacts>;
};

/** A new file that only its owner may read: a backup holds personal data. */
export async function openFileWriter(dir: string, file: string): Promise<FileWriter & AsyncDisposable> {
  const path = join(dir, file);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const handle = await open(path, 'wx', 0o600).catch((error: unknown) => rethrow(error, path));
  const hash = createHash('sha256');
  let bytes = 0;
  return {
    async write(chunk) {
      hash.update(chunk);
      for (let at = 0; at < chunk.length; ) {
        const { bytesWritten } = await handle.write(chunk, at).catch((error: unknown) => rethrow(error, path));
        at += bytesWritten;
      }
      bytes += chunk.length;
    },
    async finish() {
      await handle.sync().catch((error: unknown) => rethrow(error, path));
      return { file, bytes, sha256: hash.digest('hex') };
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

function rethrow(error: unknown, path: string): never {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') {
    throw new Failure(`There is no room left for ${path}.`, {
      todo: 'Free some, or choose a folder on a larger disk with --to.',
    });
  }
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') {
    throw new Failure(`${path} may not be written.`, {
      todo: 'Choose another folder with --to, or run this as its owner.',
    });
  }
  throw error;
}
