/**
 * `npm run release`: everything of a release but the upload, which only the release workflow does (docs/inside/releasing.md).
 *
 *   npm run release -- --dry-run [--out DIR]         a rehearsal: makes all files and says what would be uploaded
 *   npm run release -- --tag vX.Y.Z --out DIR        the same for the workflow, which refuses what a rehearsal only tells;
 *                      [--base IMAGE]                the base of the image, from a registry
 *   npm run release -- version X.Y.Z                 writes the version to all places and closes the changelogs
 *   npm run release -- get                           gets the programs that build and check a release
 */
import { join, resolve } from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { ROOT_DIR } from '@millrace/engines';
import { closeUnreleased } from './changelog.ts';
import { getTools } from './image/get-tools.ts';
import { ownPlatform } from './image/platforms.ts';
import { makeRelease } from './make-release.ts';
import { getPythonTools } from './python-tools.ts';
import { sourceState } from './source-state.ts';
import { tellUploads } from './tell-uploads.ts';
import { writeVersion } from './versions.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'dry-run': { type: 'boolean', default: false },
    tag: { type: 'string' },
    out: { type: 'string' },
    base: { type: 'string' },
  },
});
const [command, version] = positionals;

try {
  if (command === 'get') {
    getTools([ownPlatform()]);
    getPythonTools();
  } else if (command === 'version' && version !== undefined) {
    const changed = [...writeVersion(version), ...closeUnreleased(version, new Date().toISOString().slice(0, 10))];
    process.stdout.write(`The version is ${version} now, in:\n${changed.map((file) => `  ${file}\n`).join('')}`);
  } else if (values['dry-run'] || (values.tag !== undefined && values.out !== undefined)) {
    await release();
  } else {
    process.stderr.write(
      'usage: npm run release -- --dry-run [--out DIR] | --tag vX.Y.Z --out DIR [--base IMAGE] | version X.Y.Z | get\n',
    );
    process.exitCode = 2;
  }
} catch (error) {
  process.stderr.write(`release: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

async function release(): Promise<void> {
  const source = sourceState();
  const out = resolve(
    values.out ?? join(ROOT_DIR, '.runs', `release-${source.version}-${source.revision.slice(0, 7)}`),
  );
  await makeRelease({ source, out, tag: values.tag, base: values.base });
  process.stdout.write(`\nThe files are in ${out}\n${tellUploads(out, source)}`);
}
