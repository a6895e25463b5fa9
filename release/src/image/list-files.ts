/** Every file of an image with its owner and its mode. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../run-program.ts';
import type { Podman } from './open-podman.ts';

export type ImageFile = {
  path: string;
  /** As `ls -l` shows it: `-rwxr-xr-x`. */
  mode: string;
  owner: string;
};

/** Folders are listed as well. */
export function listFiles(podman: Podman, image: string): ImageFile[] {
  return withRootTar(podman, image, (tar) =>
    runProgram('tar', ['--numeric-owner', '--full-time', '-tvf', tar])
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [, mode = '', owner = '', path = ''] =
          /^(\S+)\s+(\S+)\s+\S+\s+\S+\s+\S+\s+(.+?)(?: (?:->|link to) .*)?$/.exec(line) ?? [];
        return { path, mode, owner };
      }),
  );
}

/** Copies folders of the image into `dir`. */
export function copyFolders(podman: Podman, image: string, { folders, dir }: { folders: string[]; dir: string }): void {
  withRootTar(podman, image, (tar) => runProgram('tar', ['-xf', tar, '-C', dir, ...folders]));
}

function withRootTar<Result>(podman: Podman, image: string, use: (tar: string) => Result): Result {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-files-'));
  const container = podman.run('create', '--network=host', image).trim();
  try {
    const tar = join(dir, 'root.tar');
    podman.run('export', `--output=${tar}`, container);
    return use(tar);
  } finally {
    podman.run('rm', container);
    rmSync(dir, { recursive: true });
  }
}
