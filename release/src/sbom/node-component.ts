/** Node with the libraries that it was built with, as it lists them itself. */
import process from 'node:process';
import { NODE_VERSION } from '../image/get-node.ts';
import { byPurl, type Component } from './component.ts';

/** Numbers of interfaces and of data formats, not of libraries. */
const NO_LIBRARIES = new Set(['node', 'modules', 'napi', 'cldr', 'tz', 'unicode']);

/** LICENSE of Node has the texts. All others are under MIT. */
const LICENCES: Readonly<Record<string, string>> = {
  openssl: 'Apache-2.0',
  simdjson: 'Apache-2.0',
  sqlite: 'blessing',
  v8: 'BSD-3-Clause',
  icu: 'Unicode-3.0',
  zlib: 'Zlib',
  zstd: 'BSD-3-Clause',
};

export function nodeComponent(): Component {
  if (process.versions.node !== NODE_VERSION) {
    throw new Error(
      `this is Node ${process.versions.node}, and the image has ${NODE_VERSION}: use the Node of \`scripts/engines get\``,
    );
  }
  const parts = Object.entries(process.versions)
    .flatMap(([name, version]): Component[] => {
      if (version === undefined || NO_LIBRARIES.has(name)) return [];
      const purl = `pkg:generic/${name}@${encodeURIComponent(version)}`;
      return [{ kind: 'generic', name, version, licence: LICENCES[name] ?? 'MIT', purl }];
    })
    .toSorted(byPurl);
  const purl = `pkg:generic/node@${NODE_VERSION}`;
  return { kind: 'generic', name: 'node', version: NODE_VERSION, licence: 'MIT', purl, parts };
}
