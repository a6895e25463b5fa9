/**
 * `node scripts/bundle.ts DIR [--metafile FILE]`: writes the package `millrace` as it is published into DIR, which must not exist
 * or be empty. `npm run build` has to have made the console.
 *
 *   bin/millrace.cjs          the command; an old Node understands this file
 *   dist/*.js                 command line and server; chunks, so that a short command does not load the server
 *   dist/pglite.*, initdb.*   PostgreSQL as WebAssembly, for `millrace dev` alone
 *   migrations/  console/     the files that the server reads at run time
 *   package.json  README.md  LICENSE  THIRD-PARTY-LICENSES.txt
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build, type Metafile } from 'esbuild';
import { packagesOfBundle, packagesOfConsole, writeLicences } from './licences.ts';
import { publishedManifest } from './manifests.ts';
import { ROOT_DIR } from './project-files.ts';

/** PGlite reads these files beside its code. */
const PGLITE_FILES = ['pglite.wasm', 'pglite.data', 'initdb.wasm'];
/** Some packages are CommonJS inside: they ask for `require` and for the name of their file. */
export const COMMON_JS = `import { createRequire as _requireFrom } from 'node:module';
import { dirname as _dirnameOf } from 'node:path';
import { fileURLToPath as _pathOf } from 'node:url';
const require = _requireFrom(import.meta.url);
const __filename = _pathOf(import.meta.url);
const __dirname = _dirnameOf(__filename);`;

export async function bundle(dir: string): Promise<Metafile> {
  if (existsSync(dir) && readdirSync(dir).length > 0) throw new Error(`${dir} is not empty: name another folder`);
  const consoleDir = join(ROOT_DIR, 'console/dist');
  if (!existsSync(join(consoleDir, 'index.html'))) throw new Error('the console is not built: `npm run build` first');
  mkdirSync(dir, { recursive: true });
  const metafile = await bundleCode(join(dir, 'dist'));
  const pgliteDir = dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite'));
  for (const file of PGLITE_FILES) cpSync(join(pgliteDir, file), join(dir, 'dist', file));
  cpSync(join(ROOT_DIR, 'cli/bin'), join(dir, 'bin'), { recursive: true });
  cpSync(join(ROOT_DIR, 'server/migrations'), join(dir, 'migrations'), { recursive: true });
  // The build's own notes, in a hidden folder, are not served.
  cpSync(consoleDir, join(dir, 'console'), { recursive: true, filter: (file) => !file.endsWith('.vite') });
  cpSync(join(ROOT_DIR, 'LICENSE'), join(dir, 'LICENSE'));
  cpSync(join(ROOT_DIR, 'cli/README.md'), join(dir, 'README.md'));
  const used = [...packagesOfBundle(metafile), ...packagesOfConsole()];
  writeFileSync(join(dir, 'THIRD-PARTY-LICENSES.txt'), writeLicences(used));
  writeFileSync(join(dir, 'package.json'), `${JSON.stringify(publishedManifest(), null, 2)}\n`);
  return metafile;
}

async function bundleCode(outdir: string): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: ROOT_DIR,
    entryPoints: {
      main: 'cli/src/main.ts',
      'fill-in': 'cli/src/older-node/fill-in.ts',
      'pglite-server': 'cli/src/dev/engines/pglite-server.ts',
    },
    outdir,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.19',
    metafile: true,
    legalComments: 'none',
    // Names in stack traces are worth more than 300 kB.
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: false,
    banner: { js: COMMON_JS },
    // Inside a bundle no module is the program, whatever chunk it is in.
    define: { 'import.meta.main': 'false' },
    // Its main file is UMD, whose names a bundled import does not find.
    alias: { 'hash-wasm': 'hash-wasm/dist/index.esm.js' },
    // pino-pretty is for the sources' `npm run dev`; pg tries to load pg-native and works without it.
    external: ['pino-pretty', 'pg-native'],
    logLevel: 'warning',
  });
  return metafile;
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { metafile: { type: 'string' } } });
  const [dir] = positionals;
  if (dir === undefined) throw new Error('usage: node scripts/bundle.ts DIR [--metafile FILE]');
  const metafile = await bundle(resolve(dir));
  if (values.metafile !== undefined) writeFileSync(values.metafile, JSON.stringify(metafile));
  const { version } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as { version: string };
  console.log(`millrace ${version} is in ${dir}`);
}
