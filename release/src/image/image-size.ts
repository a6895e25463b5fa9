/** How large an image is: unpacked on the disk, and as a registry sends it. */
import { rmSync, mkdtempSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Podman } from './open-podman.ts';

export type ImageSize = { megabytes: number; compressedMegabytes: number };

export function imageSize(podman: Podman, image: string): ImageSize {
  const bytes = Number(podman.run('image', 'inspect', '--format={{.Size}}', image));
  const dir = mkdtempSync(join(tmpdir(), 'millrace-layers-'));
  try {
    podman.run('push', '--quiet', '--compress', '--format=v2s2', image, `dir:${dir}`);
    const compressed = readdirSync(dir).reduce((sum, file) => sum + statSync(join(dir, file)).size, 0);
    return { megabytes: inMegabytes(bytes), compressedMegabytes: inMegabytes(compressed) };
  } finally {
    rmSync(dir, { recursive: true });
  }
}

function inMegabytes(bytes: number): number {
  return Math.round(bytes / 100_000) / 10;
}
