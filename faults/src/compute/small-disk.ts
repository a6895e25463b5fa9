import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A disk of its own that can be filled to the last block. */
export type SmallDisk = Disposable & { dir: string; fill(): void; free(): void };

const CHUNK = Buffer.alloc(65_536, 1);

/** A file system in memory. Undefined where this process may not mount one. */
export function openSmallDisk(megabytes: number): SmallDisk | undefined {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=1777`, 'tmpfs', dir], { stdio: 'ignore' });
  } catch {
    rmSync(dir, { recursive: true });
    return undefined;
  }
  const filler = join(dir, 'filler');
  const unmount = () => void execFileSync('umount', ['--lazy', dir]);
  process.once('exit', unmount);
  return {
    dir,
    fill() {
      while (freeBytes(dir) > 0) {
        try {
          writeFileSync(filler, CHUNK.subarray(0, Math.min(CHUNK.length, freeBytes(dir))), { flag: 'a' });
        } catch {
          // Another process took the last block.
        }
      }
    },
    free: () => truncateSync(filler),
    [Symbol.dispose]() {
      process.removeListener('exit', unmount);
      unmount();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function freeBytes(dir: string): number {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
}
