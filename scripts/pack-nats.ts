/** nats-server as npm packages, one for each platform. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildNats, NATS_VERSION } from '../engines/src/build-nats.ts';
import { natsManifest, type Platform } from './manifests.ts';

/** Writes the package of one platform into `dir`. */
export function stageNats(platform: Platform, dir: string): void {
  const built = buildNats(platform);
  const program = platform.os === 'win32' ? 'nats-server.exe' : 'nats-server';
  mkdirSync(join(dir, 'bin'), { recursive: true });
  cpSync(join(built, program), join(dir, 'bin', program));
  cpSync(join(built, 'LICENSE'), join(dir, 'LICENSE'));
  writeFileSync(join(dir, 'package.json'), `${JSON.stringify(natsManifest(platform, NATS_VERSION), null, 2)}\n`);
  writeFileSync(join(dir, 'README.md'), readme(platform));
}

function readme({ os, cpu }: Platform): string {
  return `# nats-server ${NATS_VERSION} for ${os} ${cpu}

The program of https://nats.io, built without changes from the source of its Go module at v${NATS_VERSION}. \`millrace dev\` starts it.
The file LICENSE has the licences of everything inside.
`;
}
