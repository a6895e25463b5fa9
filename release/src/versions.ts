/**
 * The version of Millrace is the one in the root package.json. Other files repeat it, because npm, Go, Helm or a reader looks there:
 * this is the list of them, for the check that all are equal and for `npm run release -- version X.Y.Z`, which writes it to all.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT_DIR } from '@millrace/engines';

const VERSION = String.raw`\d+\.\d+\.\d+(?:-[\w.]+)?`;

/** Each pattern has the version between two groups. A file may have it several times, and must have it once at least. */
type Place = { files: string; pattern: RegExp };

function between(before: string, after: string): RegExp {
  return new RegExp(`(${before})(${VERSION})(${after})`, 'gm');
}

const OWN_VERSION = between('^  "version": "', '"');
const PLACES: readonly Place[] = [
  { files: 'package.json', pattern: OWN_VERSION },
  {
    files: '{bench,cli,console,contract,e2e,engines,faults,server,clients/node,clients/node/types}/package.json',
    pattern: OWN_VERSION,
  },
  { files: '{cli,console,server}/package.json', pattern: between('"@millrace/(?:contract|server|engines)": "', '"') },
  { files: 'clients/node/src/version.ts', pattern: between("VERSION = '", "'") },
  { files: 'clients/go/limits.go', pattern: between('Version = "', '"') },
  { files: 'docs/use/openapi.json', pattern: between('^    "version": "', '"') },
  { files: 'docs/run/image.md', pattern: between('ghcr\\.io/millrace/millrace:|--build-arg VERSION=', '') },
  { files: 'docs/run/troubleshooting.md', pattern: between('git clone --branch v', '') },
  { files: 'deploy/versions.env', pattern: between('^MILLRACE_VERSION=', '$') },
  { files: 'deploy/helm/*/Chart.yaml', pattern: between('^(?:version|appVersion): [\'"]?', '[\'"]?$') },
];

export type Found = { file: string; version: string };

export function findVersions(rootDir: string = ROOT_DIR): Found[] {
  return PLACES.flatMap(({ files, pattern }) =>
    globSync(files, { cwd: rootDir }).flatMap((file): Found[] => {
      const matches = [...readFileSync(join(rootDir, file), 'utf8').matchAll(pattern)];
      if (matches.length === 0) return [{ file, version: 'none' }];
      return matches.map(([, , version = '']) => ({ file, version }));
    }),
  );
}

/** A sentence for every place with another version than package.json. */
export function versionProblems(version: string, rootDir: string = ROOT_DIR): string[] {
  const wrong = findVersions(rootDir).filter((found) => found.version !== version);
  return wrong.map((found) => `${found.file} has the version ${found.version}, and package.json ${version}`);
}

/** The files that were changed. */
export function writeVersion(version: string, rootDir: string = ROOT_DIR): string[] {
  if (!new RegExp(`^${VERSION}$`).test(version))
    throw new Error(`${version} is not a version such as 1.2.3 or 1.2.3-rc.1`);
  const changed = new Set<string>();
  for (const { files, pattern } of PLACES) {
    for (const file of globSync(files, { cwd: rootDir })) {
      const before = readFileSync(join(rootDir, file), 'utf8');
      const after = before.replaceAll(pattern, `$1${version}$3`);
      if (after === before) continue;
      writeFileSync(join(rootDir, file), after);
      changed.add(file);
    }
  }
  if (writeLockfile(version, join(rootDir, 'package-lock.json'))) changed.add('package-lock.json');
  return [...changed].toSorted();
}

type Locked = { version?: string; link?: boolean } & Record<string, unknown>;

/** The entries of our own workspaces. npm would also look for newer versions of everything else. */
function writeLockfile(version: string, file: string): boolean {
  const before = readFileSync(file, 'utf8');
  const lock = JSON.parse(before) as { version: string; packages: Record<string, Locked> };
  lock.version = version;
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (path.includes('node_modules/')) continue;
    if (entry.version !== undefined) entry.version = version;
    for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies']) {
      const needs = (entry[kind] ?? {}) as Record<string, string>;
      for (const name of Object.keys(needs)) if (name.startsWith('@millrace/')) needs[name] = version;
    }
  }
  const after = `${JSON.stringify(lock, null, 2)}\n`;
  if (after !== before) writeFileSync(file, after);
  return after !== before;
}
