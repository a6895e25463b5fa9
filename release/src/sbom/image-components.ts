/** Everything of others that is inside an image: read from the image, not from the plan that it was built by. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { copyFolders } from '../image/list-files.ts';
import type { Podman } from '../image/open-podman.ts';
import type { Component } from './component.ts';
import { debianComponents } from './debian-components.ts';
import { nodeComponent } from './node-component.ts';
import { npmComponents } from './npm-components.ts';

export function imageComponents(built: { podman: Podman; image: string; metafile: Metafile }): Component[] {
  const root = mkdtempSync(join(tmpdir(), 'millrace-root-'));
  try {
    copyFolders(built.podman, built.image, { folders: ['var/lib/dpkg', 'usr/share/doc'], dir: root });
    return [...debianComponents(root), nodeComponent(), ...npmComponents(built.metafile)];
  } finally {
    rmSync(root, { recursive: true });
  }
}
