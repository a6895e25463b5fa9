/** The npm packages that have code in the bundle of the server or in the console: the bundlers say so, not package.json. */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ROOT_DIR } from '@millrace/engines';
import type { Metafile } from 'esbuild';
import { packagesOfBundle, packagesOfConsole, type UsedPackage } from '../../../scripts/licences.ts';
import { byPurl, type Component } from './component.ts';

type Lockfile = { packages: Record<string, { integrity?: string }> };

export function npmComponents(metafile: Metafile): Component[] {
  const { packages } = JSON.parse(readFileSync(join(ROOT_DIR, 'package-lock.json'), 'utf8')) as Lockfile;
  const used = new Map([...packagesOfBundle(metafile), ...packagesOfConsole()].map((each) => [purlOf(each), each]));
  return [...used]
    .map(([purl, { name, version, license, dir }]): Component => {
      const sha512 = sha512Of(packages[relative(ROOT_DIR, dir)]?.integrity);
      return { kind: 'npm', name, version, licence: license, purl, ...(sha512 !== undefined && { sha512 }) };
    })
    .toSorted(byPurl);
}

function purlOf({ name, version }: UsedPackage): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** The lockfile has it in base64. */
function sha512Of(integrity: string | undefined): string | undefined {
  const [, base64] = /^sha512-(\S+)$/.exec(integrity ?? '') ?? [];
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64').toString('hex');
}
