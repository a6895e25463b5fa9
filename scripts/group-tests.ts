/**
 * Groups of test files that run in one process each: they load the modules once, and run code that is warm. A group is a suite of suites: each
 * is named after its file, holds what the file does before and after its tests, and fails by its name when it hangs.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** These measure, watch the whole process, or are so long that nothing should wait behind them. */
const ALONE = /^server\/src\/collect\/|\/permissions\.integration|\.timed\.integration/;
const MOST_FILES = 10;
/** The longest file takes a fifth of it. */
const HANGS_AFTER_MS = 600_000;

/** Writes `DIR/groups/ROOM-N.test.js` for the files that lie in DIR, bundled. */
export function writeGroups(dir: string, files: readonly string[]): void {
  mkdirSync(join(dir, 'groups'));
  for (const [room, inRoom] of Object.entries(Object.groupBy(files.toSorted(), roomOf))) {
    const grouped = (inRoom ?? []).filter((file) => !ALONE.test(file));
    const groups = Math.ceil(grouped.length / MOST_FILES);
    for (let nth = 0; nth < groups; nth += 1) {
      // By turns: long neighbours, which have like names, are apart.
      const own = grouped.filter((_, at) => at % groups === nth);
      writeFileSync(join(dir, 'groups', `${room}-${nth + 1}.test.js`), groupOf(own));
    }
  }
}

function roomOf(file: string): string {
  return /^(?:server\/(?:src\/)?)?([^/]+)/.exec(file)?.[1] ?? '';
}

function groupOf(files: readonly string[]): string {
  const suites = files.map((file) => {
    const bundled = JSON.stringify(`../${file.replace(/\.ts$/, '.js')}`);
    return `suite(${JSON.stringify(file)}, { timeout: ${HANGS_AFTER_MS} }, async () => void (await import(${bundled})));\n`;
  });
  return `import { suite } from 'node:test';\n${suites.join('')}`;
}
