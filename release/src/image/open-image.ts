/** The image of this checkout for a test, in a storage of its own; nothing of it is left when it is disposed. */
import type { Metafile } from 'esbuild';
import { makePackageDir } from '../package-dir.ts';
import { sourceState } from '../source-state.ts';
import { buildImage } from './build-image.ts';
import { openPodman, type Podman } from './open-podman.ts';
import { ownPlatform } from './platforms.ts';

export type BuiltImage = Disposable & { podman: Podman; image: string; metafile: Metafile };

export async function openImage(): Promise<BuiltImage> {
  using parts = new DisposableStack();
  using packed = await makePackageDir();
  const podman = parts.use(openPodman());
  const image = buildImage(podman, ownPlatform(), { ...sourceState(), packageDir: packed.dir });
  const kept = parts.move();
  return { podman, image, metafile: packed.metafile, [Symbol.dispose]: () => kept.dispose() };
}
