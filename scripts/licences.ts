/** Which packages are inside a bundle, and the text of their licences, which has to go with them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Metafile } from 'esbuild';
import { ROOT_DIR } from './project-files.ts';

export type UsedPackage = { name: string; version: string; license: string; dir: string };

type Manifest = { name: string; version: string; license?: string; dependencies?: Record<string, string> };

/** The packages of others that have code in the bundle. */
export function packagesOfBundle({ inputs }: Metafile): UsedPackage[] {
  const dirs = Object.keys(inputs).flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []);
  return [...new Set(dirs)].toSorted().map((dir) => usedPackage(join(ROOT_DIR, dir)));
}

/** The console's bundler does not say what it took in: the licences of all that it depends on go along. */
export function packagesOfConsole(): UsedPackage[] {
  const found = new Map<string, UsedPackage>();
  const visit = (dir: string): void => {
    for (const name of Object.keys(readManifest(dir).dependencies ?? {})) {
      const there = findPackage(name, dir);
      if (there === undefined || found.has(there) || name.startsWith('@millrace/')) continue;
      found.set(there, usedPackage(there));
      visit(there);
    }
  };
  visit(join(ROOT_DIR, 'console'));
  return [...found.values()];
}

export function writeLicences(used: readonly UsedPackage[]): string {
  const unique = new Map(used.map((each) => [`${each.name}@${each.version}`, each]));
  const parts = [...unique]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([id, { license, dir }]) => `${id}\nLicence: ${license}\n\n${licenceText(dir)}`);
  const head =
    'Millrace is under the Apache License 2.0 (LICENSE). It contains these packages of others, with thanks.\n';
  return [head, ...parts].join(`\n${'-'.repeat(100)}\n\n`);
}

/** Some packages carry no file; the name of their licence and their authors are in package.json. */
function licenceText(dir: string): string {
  const files = readdirSync(dir).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name));
  const texts = files.map((name) => readFileSync(join(dir, name), 'utf8').trim());
  return texts.length === 0 ? 'The package has no licence file.\n' : `${texts.join('\n\n')}\n`;
}

function usedPackage(dir: string): UsedPackage {
  const { name, version, license = 'unknown' } = readManifest(dir);
  return { name, version, license, dir };
}

function readManifest(dir: string): Manifest {
  return JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as Manifest;
}

function findPackage(name: string, from: string): string | undefined {
  for (const folder of createRequire(join(from, 'package.json')).resolve.paths(name) ?? []) {
    if (existsSync(join(folder, name, 'package.json'))) return join(folder, name);
  }
  return undefined;
}

/** The folder of an installed package, seen from the root of the project. */
export function installedPackage(name: string): string {
  const dir = findPackage(name, dirname(join(ROOT_DIR, 'package.json')));
  if (dir === undefined) throw new Error(`${name} is not installed: \`npm ci\` first`);
  return dir;
}
