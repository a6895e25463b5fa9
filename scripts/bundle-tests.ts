/**
 * `node scripts/bundle-tests.ts DIR`: writes tests with engines into DIR, each a file that shares chunks with the others: it
 * loads some ten files in place of a thousand modules. Most of them belong to a group, which is a process (`group-tests.ts`). The code knows its
 * places in the project (`import.meta.dirname`) as before.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { COMMON_JS } from './bundle.ts';
import { writeGroups } from './group-tests.ts';
import { ROOT_DIR } from './project-files.ts';

const TESTS = [
  'server/src/**/*.integration.test.ts',
  'server/stories/*.integration.test.ts',
  // The examples of the command line come from files that their test finds beside it.
  'cli/src/**/!(examples).integration.test.ts',
];
/** Processes that tests start and kill. */
const PROGRAMS = ['server/testing/{deliver,recorder}-child.ts', 'server/testing/projection/change-and-project.ts'];
const PRODUCT = /^@millrace\//;

type Manifest = { dependencies: Record<string, string> };

const [dir] = process.argv.slice(2);
if (dir === undefined) throw new Error('usage: node scripts/bundle-tests.ts DIR');
const files = globSync(TESTS, { cwd: ROOT_DIR });
await build({
  absWorkingDir: ROOT_DIR,
  entryPoints: [...files, ...globSync(PROGRAMS, { cwd: ROOT_DIR })],
  outbase: ROOT_DIR,
  outdir: resolve(dir),
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  banner: { js: COMMON_JS },
  define: { 'import.meta.main': 'false', 'process.env.MILLRACE_TESTS': JSON.stringify(resolve(dir)) },
  alias: { 'hash-wasm': 'hash-wasm/dist/index.esm.js' },
  external: ['pino-pretty', 'pg-native'],
  plugins: [keepPlaces(), leaveOutOthers()],
  logLevel: 'warning',
});
writeGroups(resolve(dir), files);

/** A file finds its neighbours by where it was written, not by the chunk that it ends up in. */
function keepPlaces(): Plugin {
  return {
    name: 'keep places',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (path.includes('/node_modules/')) return undefined;
        const places = { dirname: dirname(path), filename: path, url: pathToFileURL(path).href };
        const contents = readFileSync(path, 'utf8').replace(/import\.meta\.(dirname|filename|url)\b/g, (_, name) =>
          JSON.stringify(places[name as keyof typeof places]),
        );
        return { loader: 'ts', contents };
      });
    },
  };
}

/** The packages that only tests use stay where they are: not all of them can be bundled. */
function leaveOutOthers(): Plugin {
  const manifests = ['server', 'cli'].map((part) => readFileSync(join(ROOT_DIR, part, 'package.json'), 'utf8'));
  const bundled = new Set(manifests.flatMap((text) => Object.keys((JSON.parse(text) as Manifest).dependencies)));
  return {
    name: 'leave out others',
    setup({ onResolve }) {
      onResolve({ filter: /^[^./]/ }, ({ path, importer, kind }) => {
        const isOurs = !importer.includes('/node_modules/') && kind !== 'entry-point';
        const name = path.split('/', path.startsWith('@') ? 2 : 1).join('/');
        return isOurs && !PRODUCT.test(path) && !bundled.has(name) ? { path, external: true } : undefined;
      });
    },
  };
}
