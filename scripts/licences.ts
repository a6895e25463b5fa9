/** Which packages are inside a bundle, and the text of their licences, which has to go with them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { ROOT_DIR } from './project-files.ts';

export type UsedPackage = { name: string; version: string; license: string; dir: string };

type Manifest = { name: string; version: string; license?: string; author?: string | { name: string } };

const CONSOLE_MODULES = join(ROOT_DIR, 'console/dist/.vite/modules.json');

const MIT_TEXT = `Copyright (c) HOLDER

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to
the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY
CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`;

/** The packages of others that have code in the bundle. */
export function packagesOfBundle({ outputs }: Metafile): UsedPackage[] {
  const files = Object.values(outputs).flatMap(({ inputs }) => Object.entries(inputs));
  return packagesOf(files.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([file]) => file));
}

/** The packages of others that have code in the console; its build lists the modules. */
export function packagesOfConsole(): UsedPackage[] {
  return packagesOf(JSON.parse(readFileSync(CONSOLE_MODULES, 'utf8')) as string[]);
}

function packagesOf(files: readonly string[]): UsedPackage[] {
  const dirs = files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []);
  return [...new Set(dirs)].toSorted().map((dir) => usedPackage(join(ROOT_DIR, dir)));
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

/** Some packages carry no file: their package.json names the licence and the holder of the copyright. */
function licenceText(dir: string): string {
  const files = readdirSync(dir).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name));
  const texts = files.map((name) => readFileSync(join(dir, name), 'utf8').trim());
  if (texts.length > 0) return `${texts.join('\n\n')}\n`;
  const { name, license, author = name } = readManifest(dir);
  if (license !== 'MIT') throw new Error(`${name} has no licence file, and its licence ${license} no text here`);
  const holder = typeof author === 'string' ? author : author.name;
  return MIT_TEXT.replace('HOLDER', holder.replace(/ *[<(].*/, ''));
}

function usedPackage(dir: string): UsedPackage {
  const { name, version, license = 'unknown' } = readManifest(dir);
  return { name, version, license, dir };
}

function readManifest(dir: string): Manifest {
  return JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as Manifest;
}
