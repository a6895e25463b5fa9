/** Builds the image of one platform from deploy/image/Dockerfile and a build context with exactly the files that go into it. */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENGINES_DIR, ROOT_DIR } from '@millrace/engines';
import { runProgram } from '../run-program.ts';
import { getNode } from './get-node.ts';
import { makeBase } from './make-base.ts';
import type { SourceState } from '../source-state.ts';
import type { Podman } from './open-podman.ts';
import type { Platform } from './platforms.ts';

/** PostgreSQL as WebAssembly, which only `millrace dev` starts: 16 MB. */
const DEVELOPMENT_ONLY = /\/dist\/(pglite\.(wasm|data)|initdb\.wasm)$/;
const CACHE_DIR = join(ENGINES_DIR, 'image');

export type ImageSource = SourceState & {
  /** The base in a registry; without it, one is made from Debian packages here. */
  base?: string | undefined;
  /** The npm package `millrace`, unpacked. */
  packageDir: string;
};

/** The name of the image in podman's storage. */
export function buildImage(podman: Podman, platform: Platform, source: ImageSource): string {
  const context = mkdtempSync(join(tmpdir(), 'millrace-image-'));
  try {
    makeContext(context, source.packageDir, [platform]);
    const base = source.base === undefined ? importBase(podman, platform) : pullBase(podman, platform, source.base);
    const name = `localhost/millrace:${source.version}-${platform}`;
    const values = {
      BASE: base,
      TARGETARCH: platform,
      VERSION: source.version,
      REVISION: source.revision,
      CREATED: new Date(source.createdAt * 1000).toISOString(),
    };
    podman.run(
      'build',
      `--platform=linux/${platform}`,
      '--pull=never',
      // The OCI format has no field for a health check.
      '--format=docker',
      `--timestamp=${source.createdAt}`,
      ...Object.entries(values).map(([key, value]) => `--build-arg=${key}=${value}`),
      `--file=${join(ROOT_DIR, 'deploy/image/Dockerfile')}`,
      `--tag=${name}`,
      context,
    );
    return name;
  } finally {
    rmSync(context, { recursive: true });
  }
}

/** The build context that the Dockerfile expects. */
export function makeContext(dir: string, packageDir: string, platforms: readonly Platform[]): void {
  mkdirSync(CACHE_DIR, { recursive: true });
  cpSync(packageDir, join(dir, 'package'), { recursive: true, filter: (file) => !DEVELOPMENT_ONLY.test(file) });
  for (const platform of platforms)
    cpSync(getNode(platform, CACHE_DIR), join(dir, 'node', platform), { recursive: true });
  // The image's user reads them, whatever the umask here.
  runProgram('chmod', ['-R', 'u=rwX,go=rX', dir]);
}

/** By its digest: the tag may lead to another platform's image that was pulled before. */
function pullBase(podman: Podman, platform: Platform, name: string): string {
  return podman.run('pull', '--quiet', `--platform=linux/${platform}`, name).trim();
}

function importBase(podman: Podman, platform: Platform): string {
  const name = `localhost/millrace-base:${platform}`;
  const tar = join(mkdtempSync(join(tmpdir(), 'millrace-base-')), 'base.tar');
  try {
    const owner = ['--owner=0', '--group=0', '--numeric-owner', '--sort=name'];
    runProgram('tar', [...owner, '--mode=u=rwX,go=rX', '-cf', tar, '-C', makeBase(platform, CACHE_DIR), '.']);
    podman.run('import', '--quiet', `--arch=${platform}`, tar, name);
    return name;
  } finally {
    rmSync(join(tar, '..'), { recursive: true });
  }
}
