/** The first load and each further screen stay small: people open the console when something is on fire, often on a bad line. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { ROOT_DIR } from '@millrace/engines';

type Chunk = { file: string; css?: string[]; imports?: string[]; dynamicImports?: string[]; isEntry?: boolean };

const DIST = join(ROOT_DIR, 'console/dist');
const FIRST_BYTES = 250_000;
const SCREEN_BYTES = 60_000;

const manifest = JSON.parse(readFileSync(join(DIST, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>;
const entry = Object.entries(manifest).find(([, { isEntry }]) => isEntry === true)?.[0] ?? '';
const first = filesOf(entry);

suite('gzip', () => {
  test(`the first load with the home screen is at most ${FIRST_BYTES / 1_000} KB`, (t) => {
    const home = Object.keys(manifest).find((name) => name.endsWith('screens/home/home.tsx')) ?? '';
    const bytes = sizeOf(new Set([...first, ...filesOf(home)]));
    t.diagnostic(`${Math.round(bytes / 1_000)} KB, without the home screen ${Math.round(sizeOf(first) / 1_000)} KB`);
    assert.ok(bytes <= FIRST_BYTES, `${bytes} bytes`);
  });

  test(`each further screen adds at most ${SCREEN_BYTES / 1_000} KB`, (t) => {
    const screens = manifest[entry]?.dynamicImports ?? [];
    const sizes = screens.map((name) => ({ name, bytes: sizeOf(filesOf(name).difference(first)) }));
    const largest = sizes.toSorted((a, b) => b.bytes - a.bytes)[0];
    t.diagnostic(`${screens.length} screens and layers; the largest is ${largest?.name}: ${largest?.bytes} bytes`);
    assert.ok(screens.length > 30);
    assert.deepEqual(
      sizes.filter(({ bytes }) => bytes > SCREEN_BYTES),
      [],
    );
  });
});

/** A chunk with everything that it needs before it can run. */
function filesOf(name: string, found = new Set<string>()): Set<string> {
  const chunk = manifest[name];
  if (chunk === undefined || found.has(chunk.file)) return found;
  found.add(chunk.file);
  for (const css of chunk.css ?? []) found.add(css);
  for (const next of chunk.imports ?? []) filesOf(next, found);
  return found;
}

function sizeOf(files: Iterable<string>): number {
  return Array.from(files, (file) => readFileSync(join(DIST, `${file}.gz`)).length).reduce(
    (sum, size) => sum + size,
    0,
  );
}
