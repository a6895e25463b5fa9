/** Holds server/src against the table of rooms: imports, number of files, no circle of imports. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { ROOMS } from './rooms.ts';
import { report, ROOT_DIR } from './project-files.ts';

const MAX_FILES = 20;
/** One file for each table. */
const MAY_HOLD_MORE = new Set(['store']);
const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^']+)'/g;

type Source = { file: string; room: string; imports: string[] };

/** Lists every breach of the rules, in sentences. */
export function checkRooms(rootDir: string): string[] {
  const src = join(rootDir, 'server/src');
  const sources = readSources(src);
  return [...sources.flatMap(importProblems), ...sizeProblems(sources), ...circles(sources)];
}

/** `log.ts` and `breathe.ts` stand at the root and are rooms of their own: every room may import them, and they import none. */
export function roomOf(file: string): string {
  const name = file.replace(/\.ts$/, '');
  return name in ROOMS && !name.includes('/') ? name : dirname(file);
}

function readSources(src: string): Source[] {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  return files
    .filter((file) => !file.endsWith('.test.ts'))
    .toSorted()
    .map((file) => {
      const text = readFileSync(join(src, file), 'utf8');
      const imports = [...text.matchAll(IMPORT)].map(([, path = '']) => normalize(join(dirname(file), path)));
      return { file, room: roomOf(file), imports };
    });
}

function importProblems({ file, room, imports }: Source): string[] {
  const rule = ROOMS[room];
  if (rule === undefined) return [`server/src/${file} is in no room: scripts/rooms.ts has to say what ${room} is for`];
  return imports.flatMap((path) => {
    if (path.startsWith('..')) return [`server/src/${file} imports ${path}, which is outside of server/src`];
    const other = roomOf(path);
    if (other === room || rule.imports.some((each) => covers(each, other))) return [];
    return [
      `server/src/${file} imports ${other}: ${room} (${rule.holds}) imports ${rule.imports.join(', ') || 'nothing'}`,
    ];
  });
}

function covers(pattern: string, room: string): boolean {
  return pattern === room || (pattern.endsWith('/*') && dirname(room) === pattern.slice(0, -2));
}

function sizeProblems(sources: readonly Source[]): string[] {
  const byRoom = Map.groupBy(sources, ({ file }) => dirname(file));
  return [...byRoom]
    .filter(([room, { length }]) => length > MAX_FILES && !MAY_HOLD_MORE.has(room))
    .map(([room, { length }]) => `server/src/${room} holds ${length} files: a room has ${MAX_FILES} at most`);
}

/** Files that import each other, over however many steps; imports of types count. */
function circles(sources: readonly Source[]): string[] {
  const byFile = new Map(sources.map((source) => [source.file, source]));
  const state = new Map<string, 'open' | 'done'>();
  const found: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (state.get(file) === 'done') return;
    if (state.get(file) === 'open') {
      found.push(`a circle of imports: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
      return;
    }
    state.set(file, 'open');
    for (const next of byFile.get(file)?.imports ?? []) visit(next, [...path, file]);
    state.set(file, 'done');
  };
  for (const { file } of sources) visit(file, []);
  return found;
}

/** Rooms that import each other by the table, however they are used. */
export function tableProblems(): string[] {
  const names = Object.keys(ROOMS);
  const seesOf = (room: string) => names.filter((other) => ROOMS[room]?.imports.some((each) => covers(each, other)));
  return names.flatMap((room, at) => {
    const upward = seesOf(room).filter((other) => names.indexOf(other) <= at);
    return upward.map((other) => `${room} may import ${other}, which stands above it in the table`);
  });
}

if (import.meta.main) {
  const missing = Object.keys(ROOMS)
    .filter(
      (room) =>
        !existsSync(join(ROOT_DIR, 'server/src', room)) && !existsSync(join(ROOT_DIR, 'server/src', `${room}.ts`)),
    )
    .map((room) => `scripts/rooms.ts names ${room}, which is not there`);
  report([...missing, ...tableProblems(), ...checkRooms(ROOT_DIR)]);
}
