/** Tells the uploads of the release workflow, for a folder that `makeRelease` has filled. */
import { globSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { SourceState } from './source-state.ts';

export function tellUploads(out: string, { version }: SourceState): string {
  const files = (pattern: string) => globSync(pattern, { cwd: out }).toSorted();
  const size = (file: string) => inUnits(statSync(join(out, file)).size);
  const lines = [
    `Nothing was uploaded. The release workflow would upload, for the tag v${version}:`,
    '  to npm, with provenance:',
    ...inPublishingOrder(files('npm/**/*.tgz')).map((file) => `    ${basename(file)}  ${size(file)}`),
    `  to ghcr.io/millrace/millrace, as ${version} and latest, signed and with provenance and SBOM:`,
    ...files('image/*.tar').map((file) => `    ${basename(file)}  ${size(file)}`),
    '  as Go module:',
    `    the tag clients/go/v${version}`,
    '  to the GitHub release, with RELEASE-NOTES.md as its text:',
    ...files('{sbom/*,npm/**/*.tgz,SHA256SUMS}').map((file) => `    ${basename(file)}  ${size(file)}`),
  ];
  return `${lines.join('\n')}\n`;
}

/** `millrace` needs the packages of the platforms: it comes last. */
export function inPublishingOrder(tarballs: readonly string[]): string[] {
  const rank = (file: string) => (/^millrace-\d/.test(basename(file)) ? 1 : 0);
  return tarballs.toSorted((one, other) => rank(one) - rank(other));
}

function inUnits(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
