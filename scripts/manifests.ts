/** The package.json of each published package. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT_DIR } from './project-files.ts';

type CliManifest = {
  name: string;
  version: string;
  description: string;
  license: string;
  engines: { node: string };
  optionalDependencies: Record<string, string>;
};

/** A platform that has a package with nats-server, in Node's words and in Go's. */
export type Platform = { os: 'linux' | 'darwin' | 'win32'; cpu: 'x64' | 'arm64'; goos: string; goarch: string };

export const PLATFORMS: readonly Platform[] = [
  { os: 'linux', cpu: 'x64', goos: 'linux', goarch: 'amd64' },
  { os: 'linux', cpu: 'arm64', goos: 'linux', goarch: 'arm64' },
  { os: 'darwin', cpu: 'x64', goos: 'darwin', goarch: 'amd64' },
  { os: 'darwin', cpu: 'arm64', goos: 'darwin', goarch: 'arm64' },
  { os: 'win32', cpu: 'x64', goos: 'windows', goarch: 'amd64' },
];

/** npm accepts provenance only from the workflow of this repository. */
const REPOSITORY = { type: 'git', url: 'git+https://github.com/millrace/millrace.git' };

export function natsPackageName({ os, cpu }: Pick<Platform, 'os' | 'cpu'>): string {
  return `@millrace/nats-${os}-${cpu}`;
}

/** All code is inside the bundle, so there are no dependencies but the engines of `millrace dev`, each for its platform. */
export function publishedManifest(): object {
  const { name, version, description, license, engines, optionalDependencies } = cliManifest();
  const nats = PLATFORMS.map((platform) => [natsPackageName(platform), version]);
  return {
    name,
    version,
    description,
    license,
    repository: { ...REPOSITORY, directory: 'cli' },
    keywords: ['events', 'analytics', 'webhooks', 'segment', 'self-hosted'],
    type: 'module',
    engines,
    bin: { millrace: 'bin/millrace.cjs' },
    files: ['bin', 'dist', 'migrations', 'console', 'THIRD-PARTY-LICENSES.txt'],
    optionalDependencies: { ...optionalDependencies, ...Object.fromEntries(nats) },
  };
}

export function natsManifest(platform: Platform, natsVersion: string): object {
  const { version, license } = cliManifest();
  return {
    name: natsPackageName(platform),
    version,
    description: `nats-server ${natsVersion} for ${platform.os} ${platform.cpu}, for \`millrace dev\``,
    license,
    repository: REPOSITORY,
    os: [platform.os],
    cpu: [platform.cpu],
    files: ['bin', 'LICENSE'],
    preferUnplugged: true,
  };
}

function cliManifest(): CliManifest {
  return JSON.parse(readFileSync(join(ROOT_DIR, 'cli/package.json'), 'utf8')) as CliManifest;
}
