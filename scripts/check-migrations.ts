/**
 * Holds server/migrations against the rules of expand and contract: every file has its mark, the version before this one still
 * runs after all of them, and a statement that takes something away says since which version it is unused.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readMigration } from '../server/src/store/read-migrations.ts';
import { compareVersions, VERSION } from '../server/src/version.ts';
import { report, ROOT_DIR } from './project-files.ts';

/** Statements after which an older version may fail: it still reads, writes or leaves out what they change. */
const TAKES_AWAY =
  /\bDROP\s+(TABLE|COLUMN|VIEW|FUNCTION|TYPE|SCHEMA)\b|\bRENAME\b|\bALTER\s+COLUMN\s+\w+\s+(SET\s+NOT\s+NULL|(SET\s+DATA\s+)?TYPE)\b/i;
const WHY = /^-- unused since: \S/m;

export type MigrationFile = { name: string; text: string };
export type Releases = { version: string; previous: string | undefined };

export function checkMigrations(files: readonly MigrationFile[], { version, previous }: Releases): string[] {
  const newest = previous ?? version;
  return files.flatMap(({ name, text }) => {
    const where = `server/migrations/${name}`;
    let leastVersion: string;
    try {
      ({ leastVersion } = readMigration(name, text));
    } catch (error) {
      return [`${where}: ${error instanceof Error ? error.message : String(error)}`];
    }
    if (compareVersions(leastVersion, newest) > 0) {
      return [
        `${where} asks for ${leastVersion}, but ${newest} must run after it: take things away one version after their last reader`,
      ];
    }
    const code = text.replaceAll(/--.*$/gm, '').replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, '');
    if (TAKES_AWAY.test(code) && !WHY.test(text)) {
      return [
        `${where} takes something away: add a line \`-- unused since: …\` that says since which version, and set the mark to it`,
      ];
    }
    return [];
  });
}

/** Versions with a heading of their own in the changelog are released. */
export function previousRelease(changelog: string, version: string): string | undefined {
  const released = [...changelog.matchAll(/^## \[?(\d+\.\d+\.\d+)\]?/gm)].map(([, each = '']) => each);
  return released
    .filter((each) => compareVersions(each, version) < 0)
    .toSorted(compareVersions)
    .at(-1);
}

if (import.meta.main) {
  const dir = join(ROOT_DIR, 'server/migrations');
  const files = readdirSync(dir).map((name) => ({ name, text: readFileSync(join(dir, name), 'utf8') }));
  const changelog = readFileSync(join(ROOT_DIR, 'CHANGELOG.md'), 'utf8');
  report(checkMigrations(files, { version: VERSION, previous: previousRelease(changelog, VERSION) }));
}
