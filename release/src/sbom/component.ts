/** One thing of others that is inside what we release. */
export type Component = {
  kind: 'npm' | 'golang' | 'deb' | 'generic';
  name: string;
  version: string;
  /** An SPDX expression. */
  licence: string;
  /** Package URL: the name by which scanners look up vulnerabilities. */
  purl: string;
  /** Of the published archive, in hexadecimal. */
  sha512?: string;
  /** Things inside this one that have versions of their own. */
  parts?: Component[];
};

export function byPurl(one: Component, other: Component): number {
  return one.purl < other.purl ? -1 : 1;
}
