/**
 * `node scripts/join-modules.ts PACKAGE...`: joins the modules of an installed package into one file for each of its entry points,
 * in node_modules. TypeBox has 680 modules, and the tests start hundreds of processes that load them all: joined, they load in a
 * tenth of the time. `npm ci` brings the modules back.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ROOT_DIR } from './project-files.ts';

type Manifest = { exports: Record<string, { import: string }> };

for (const name of process.argv.slice(2)) await joinModules(join(ROOT_DIR, 'node_modules', name));

async function joinModules(dir: string): Promise<void> {
  const manifest = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as Manifest;
  const joined = mkdtempSync(join(tmpdir(), 'millrace-joined-'));
  try {
    await build({
      entryPoints: Object.values(manifest.exports).map((entry) => join(dir, entry.import)),
      outbase: dir,
      outdir: joined,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      // Entry points share their classes and registries.
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      logLevel: 'warning',
    });
    cpSync(joined, dir, { recursive: true });
  } finally {
    rmSync(joined, { recursive: true });
  }
}
