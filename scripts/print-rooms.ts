/**
 * Prints the rooms of server/src as a tree, each with its purpose. With `--write` it also puts the tree into
 * docs/inside/architecture.md, where a test expects it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOMS } from './rooms.ts';

const PAGE = join(import.meta.dirname, '../docs/inside/architecture.md');
const WIDTH = 22;

/** The table of rooms with folders that only hold rooms in their place. `log` and `breathe` are files. */
export function roomTree(): string {
  const lines = [line('server/src/', ROOMS['.']?.holds)];
  const shown = new Set<string>();
  for (const [room, { holds }] of Object.entries(ROOMS)) {
    if (room === '.') continue;
    const steps = room.split('/');
    for (let depth = 1; depth < steps.length; depth += 1) {
      const parent = steps.slice(0, depth).join('/');
      if (!shown.has(parent)) lines.push(line(indented(parent)));
      shown.add(parent);
    }
    lines.push(line(indented(room), holds));
    shown.add(room);
  }
  return lines.join('\n');
}

function indented(room: string): string {
  const steps = room.split('/');
  const isFile = room === 'log' || room === 'breathe';
  return `${'  '.repeat(steps.length)}${steps.at(-1)}${isFile ? '.ts' : '/'}`;
}

function line(name: string, holds = ''): string {
  return `${name.padEnd(WIDTH)}${holds}`.trimEnd();
}

if (import.meta.main) {
  console.log(roomTree());
  if (process.argv.includes('--write')) {
    const page = readFileSync(PAGE, 'utf8');
    writeFileSync(
      PAGE,
      page.replace(/```\nserver\/src\/[\s\S]*?```/, () => `\`\`\`\n${roomTree()}\n\`\`\``),
    );
  }
}
