/** The npm package `millrace` as it is published, in a folder. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { ROOT_DIR } from '@millrace/engines';
import type { Metafile } from 'esbuild';
import { bundle } from '../../scripts/bundle.ts';
import { runProgram } from './run-program.ts';

export type PackageDir = Disposable & {
  dir: string;
  /** Says which module each file of the bundle is made of. */
  metafile: Metafile;
};

/** Makes the package in a temporary folder; builds the console unless that is done. */
export async function makePackageDir(): Promise<PackageDir> {
  if (!existsSync(join(ROOT_DIR, 'console/dist/.vite/modules.json'))) {
    process.stderr.write('building the console …\n');
    runProgram('npm', ['run', '--silent', 'build'], { cwd: ROOT_DIR });
  }
  const dir = mkdtempSync(join(tmpdir(), 'millrace-package-'));
  const metafile = await bundle(dir);
  return { dir, metafile, [Symbol.dispose]: () => rmSync(dir, { recursive: true }) };
}
