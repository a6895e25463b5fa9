/** SHA256SUMS, in the form that `sha256sum --check` reads. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const CHECKSUMS = 'SHA256SUMS';

/** Writes the checksums of all files below `dir` and returns their names. */
export function writeChecksums(dir: string): string[] {
  const files = globSync('**/*', { cwd: dir })
    .filter((file) => file !== CHECKSUMS && statSync(join(dir, file)).isFile())
    .toSorted();
  const lines = files.map((file) => `${sha256Of(join(dir, file))}  ${file}\n`);
  writeFileSync(join(dir, CHECKSUMS), lines.join(''));
  return files;
}

export function sha256Of(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
