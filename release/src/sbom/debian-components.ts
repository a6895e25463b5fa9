/** The Debian packages of the image's base, from the notes that distroless and our own base keep of them. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { byPurl, type Component } from './component.ts';

/** Debian's copyright files have no form that a program could read in all of them. */
const LICENCES: Readonly<Record<string, string>> = {
  'base-files': 'GPL-2.0-or-later',
  'ca-certificates': 'MPL-2.0 AND GPL-2.0-or-later',
  libc6: 'LGPL-2.1-or-later',
  'libgcc-s1': 'GPL-3.0-or-later WITH GCC-exception-3.1',
  libgomp1: 'GPL-3.0-or-later WITH GCC-exception-3.1',
  'libstdc++6': 'GPL-3.0-or-later WITH GCC-exception-3.1',
  libssl3: 'Apache-2.0',
  'media-types': 'LicenseRef-public-domain',
  netbase: 'GPL-2.0-only',
  tzdata: 'LicenseRef-public-domain',
};
const GCC_BASE = /^gcc-\d+-base$/;

/** `root` is the root of the image, or a copy of its /var/lib/dpkg and /usr/share/doc. */
export function debianComponents(root: string): Component[] {
  const notes = globSync('var/lib/dpkg/status.d/*', { cwd: root }).filter((file) => !file.endsWith('.md5sums'));
  if (notes.length === 0) throw new Error('the base of the image keeps no notes of its packages');
  return notes.map((file) => component(root, file)).toSorted(byPurl);
}

function component(root: string, file: string): Component {
  const text = readFileSync(join(root, file), 'utf8');
  const field = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(text)?.[1] ?? '';
  const name = field('Package') || basename(file);
  if (!existsSync(join(root, 'usr/share/doc', name, 'copyright')))
    throw new Error(`the image has the Debian package ${name} without its licence`);
  const licence = GCC_BASE.test(name) ? LICENCES['libgcc-s1'] : LICENCES[name];
  if (licence === undefined)
    throw new Error(`the licence of the Debian package ${name} is not named in ${basename(import.meta.filename)}`);
  const version = field('Version');
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${field('Architecture')}`;
  return { kind: 'deb', name, version, licence, purl };
}
