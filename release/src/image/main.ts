/**
 * `npm run image`: builds the image of this checkout and prints its size.
 *
 *   npm run image                            for this machine, to look at its size
 *   npm run image -- --out DIR               and writes it to DIR, for `podman load` or `docker load`
 *   npm run image -- --platform amd64,arm64  for several platforms; only its own can be run here
 *   npm run image -- --context DIR           only writes the build context of deploy/image/Dockerfile, for another builder
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makePackageDir } from '../package-dir.ts';
import { sourceState } from '../source-state.ts';
import { buildImage, makeContext } from './build-image.ts';
import { getTools } from './get-tools.ts';
import { imageSize } from './image-size.ts';
import { openPodman } from './open-podman.ts';
import { isPlatform, ownPlatform, PLATFORMS } from './platforms.ts';

const { values } = parseArgs({
  options: {
    platform: { type: 'string', default: ownPlatform() },
    out: { type: 'string' },
    context: { type: 'string' },
  },
});
const platforms = values.platform.split(',').filter(isPlatform);
if (platforms.length !== values.platform.split(',').length)
  throw new Error(`--platform must be one or more of ${Object.keys(PLATFORMS).join(', ')}, separated by commas`);

getTools(platforms);
using packed = await makePackageDir();
if (values.context === undefined) buildAll(packed.dir);
else makeContext(values.context, packed.dir, platforms);

function buildAll(packageDir: string): void {
  using podman = openPodman();
  for (const platform of platforms) {
    const source = sourceState();
    const image = buildImage(podman, platform, { ...source, packageDir });
    const { megabytes, compressedMegabytes } = imageSize(podman, image);
    console.log(`${image}: ${megabytes} MB, ${compressedMegabytes} MB compressed`);
    if (values.out === undefined) continue;
    mkdirSync(values.out, { recursive: true });
    const file = join(values.out, `millrace-${source.version}-linux-${platform}.tar`);
    podman.run('save', '--quiet', '--format=docker-archive', `--output=${file}`, image);
    console.log(`  written to ${file}`);
  }
}
