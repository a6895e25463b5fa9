/** The licences of things that may be inside what we release. */
import type { Component } from './component.ts';

const PERMISSIVE = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'PostgreSQL',
  'Unicode-3.0',
  'Unlicense',
  'Zlib',
  'blessing',
];

/** Allowed for Debian packages of the base alone, each with the reason: we pass their files on unchanged. */
const IN_THE_BASE: Readonly<Record<string, string>> = {
  'GPL-2.0-only': 'tables of services and protocols, no code',
  'GPL-2.0-or-later': 'names of the distribution; the scripts under it are not in the image',
  'GPL-3.0-or-later WITH GCC-exception-3.1': "GCC's libraries: the exception allows any program to use them",
  'LGPL-2.1-or-later': 'glibc: linked dynamically, and anybody can replace it',
  'LicenseRef-public-domain': 'time zones',
  'MPL-2.0': 'certificates, unchanged',
};

/** A sentence for every component whose licence is not allowed, also for those inside others. */
export function forbiddenLicences(components: readonly Component[]): string[] {
  return components.flatMap(({ name, version, licence, kind, parts = [] }) => {
    const isAllowed = (id: string) => PERMISSIVE.includes(id) || (kind === 'deb' && Object.hasOwn(IN_THE_BASE, id));
    const own = isSatisfied(licence, isAllowed)
      ? []
      : [`${name} ${version} has the licence ${licence}, which release/src/sbom/allowed-licences.ts does not allow`];
    return [...own, ...forbiddenLicences(parts)];
  });
}

/** Of `A OR B` we may choose; `A AND B` both bind us. */
function isSatisfied(expression: string, isAllowed: (id: string) => boolean): boolean {
  const choices = expression.replaceAll(/[()]/g, '').split(' OR ');
  return choices.some((choice) => choice.split(' AND ').every((id) => isAllowed(id.trim())));
}
