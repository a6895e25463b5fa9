import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMPILER, ENGINES_DIR, keepBuilt, ROOT_DIR, runGo } from '@millrace/engines';

const SOURCE_DIR = join(ROOT_DIR, 'faults/power');

/** The program that mounts a disk which can lose its power. `.engines/power` keeps it until its source changes. */
export function buildPower(): string {
  const dir = join(ENGINES_DIR, 'power', versionOf(SOURCE_DIR));
  if (!existsSync(dir)) {
    const making = `${dir}.${process.pid}`;
    mkdirSync(making, { recursive: true });
    const args = ['build', '-C', SOURCE_DIR, '-trimpath', '-o', join(making, 'power'), '.'];
    runGo(args, { env: { ...process.env, ...COMPILER }, stdio: ['ignore', 'inherit', 'inherit'] });
    keepBuilt(making, dir);
  }
  return join(dir, 'power');
}

function versionOf(source: string): string {
  const hash = createHash('sha256');
  const files = readdirSync(source).filter((name) => /^go\.|(?<!_test)\.go$/.test(name));
  for (const name of files.sort()) hash.update(`${name}\0`).update(readFileSync(join(source, name)));
  return hash.digest('hex').slice(0, 12);
}
