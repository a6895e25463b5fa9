/**
 * `npm run build -w @millrace/node`: makes dist/, here or in the copy of the package that is named. The package has no
 * dependencies, so the few files of contract/ that the client is made of are put beside its own before they are compiled,
 * and their imports are pointed there.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const HERE = import.meta.dirname;
const ROOT = join(HERE, '../..');
const PACKAGE = resolve(process.argv[2] ?? HERE);
const DIST = join(PACKAGE, 'dist');
const STAGE = join(PACKAGE, '.build');
const FROM_CONTRACT = /'(?:\.\.\/){3}contract\/src\/([\w-]+\.ts)'/g;
const WITHIN_CONTRACT = /'\.\/([\w-]+\.ts)'/g;

rmSync(STAGE, { recursive: true, force: true });
rmSync(DIST, { recursive: true, force: true });
mkdirSync(join(STAGE, 'src/contract'), { recursive: true });

for (const file of readdirSync(join(HERE, 'src')).filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
)) {
  const code = readFileSync(join(HERE, 'src', file), 'utf8');
  for (const [, name = ''] of code.matchAll(FROM_CONTRACT)) copyFromContract(name);
  writeFileSync(join(STAGE, 'src', file), code.replaceAll(FROM_CONTRACT, "'./contract/$1'"));
}
writeFileSync(join(STAGE, 'tsconfig.json'), JSON.stringify(compilerSettings()));
// Comments are for those who read the source, and for the editors of those who call it.
compile('--removeComments', '--declaration', 'false');
compile('--emitDeclarationOnly');
removeUnused(DIST);
rmSync(STAGE, { recursive: true, force: true });

function compile(...options: string[]): void {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', STAGE, ...options], { stdio: 'inherit' });
}

function copyFromContract(name: string): void {
  const target = join(STAGE, 'src/contract', name);
  if (existsSync(target)) return;
  const code = readFileSync(join(ROOT, 'contract/src', name), 'utf8');
  writeFileSync(target, code);
  for (const [, other = ''] of code.matchAll(WITHIN_CONTRACT)) copyFromContract(other);
}

/** The oldest Node and TypeScript that the package is for decide what may be in it. */
function compilerSettings() {
  return {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      target: 'es2022',
      lib: ['es2023', 'esnext.disposable'],
      rootDir: join(STAGE, 'src'),
      outDir: DIST,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      stripInternal: true,
      typeRoots: [join(ROOT, 'node_modules/@types')],
    },
    include: [join(STAGE, 'src/**/*.ts')],
  };
}

/** Keeps only the declarations that can be reached from index.d.ts, and no files that held nothing but types. */
function removeUnused(dist: string): void {
  const reached = new Set<string>();
  const reach = (file: string) => {
    if (reached.has(file)) return;
    reached.add(file);
    const path = join(dist, file);
    const code = readFileSync(path, 'utf8').replaceAll(/(from '\.[^']*|import\('\.[^']*)\.ts'/g, "$1.js'");
    writeFileSync(path, code);
    for (const [, other = ''] of code.matchAll(/(?:from |import\()['"](\.[^'"]*)\.js['"]/g)) {
      reach(`${join(dirname(file), other)}.d.ts`);
    }
  };
  reach('index.d.ts');
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const isEmpty = file.endsWith('.js') && readFileSync(join(dist, file), 'utf8').trim() === 'export {};';
    if (isEmpty || (file.endsWith('.d.ts') && !reached.has(file))) rmSync(join(dist, file));
  }
}
