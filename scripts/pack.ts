/**
 * `npm run pack -- DIR [--all-platforms]`: writes the tarballs that npm would publish, so that `npm install --ignore-scripts
 * DIR/*.tgz` installs them. npm refuses a tarball of another platform there, so those are in DIR/other-platforms.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { bundle } from './bundle.ts';
import { PLATFORMS } from './manifests.ts';
import { stageNats } from './pack-nats.ts';
import { ROOT_DIR } from './project-files.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'all-platforms': { type: 'boolean', default: false } },
});
const [named] = positionals;
if (named === undefined) throw new Error('usage: npm run pack -- DIR [--all-platforms]');
const dir = resolve(named);
const stage = mkdtempSync(join(tmpdir(), 'millrace-pack-'));
try {
  const bundled = join(stage, 'millrace');
  await bundle(bundled);
  pack(bundled, dir);
  stageClient(join(stage, 'node'));
  pack(join(stage, 'node'), dir);
  for (const platform of PLATFORMS) {
    const isOurs = platform.os === process.platform && platform.cpu === process.arch;
    if (!isOurs && !values['all-platforms']) continue;
    const staged = join(stage, `nats-${platform.os}-${platform.cpu}`);
    stageNats(platform, staged);
    pack(staged, isOurs ? dir : join(dir, 'other-platforms'));
  }
} finally {
  rmSync(stage, { recursive: true });
}

/** The client library, without what only its development needs. */
function stageClient(to: string): void {
  const from = join(ROOT_DIR, 'clients/node');
  mkdirSync(to);
  for (const file of ['README.md', 'CHANGELOG.md']) cpSync(join(from, file), join(to, file));
  cpSync(join(ROOT_DIR, 'LICENSE'), join(to, 'LICENSE'));
  const manifest = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as Record<string, unknown>;
  delete manifest['devDependencies'];
  delete manifest['scripts'];
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  // The compiler reads the manifest: it says that the files are modules.
  execFileSync(process.execPath, [join(from, 'build.ts'), to], { stdio: 'inherit' });
}

function pack(staged: string, to: string): void {
  mkdirSync(to, { recursive: true });
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', to];
  // npm is a script for cmd.exe on Windows.
  const name = execFileSync('npm', args, { cwd: staged, encoding: 'utf8', shell: process.platform === 'win32' }).trim();
  const kilobytes = Math.ceil(statSync(join(to, name)).size / 1e3);
  console.log(`${join(to, name)}  ${kilobytes.toLocaleString('en')} kB`);
}
