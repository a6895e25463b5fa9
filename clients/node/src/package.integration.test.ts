/** The package as it is published: packed, installed into an empty project, and used from there. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../testing/run-program.ts';
import { VERSION } from './version.ts';

const run = promisify(execFile);
const HERE = join(import.meta.dirname, '..');
const ROOT = join(HERE, '../..');
const MOST_BYTES = 31_000;
const directory = temporaryDirectory();
const copy = join(directory.path, 'copy');
const project = join(directory.path, 'project');
const installed = join(project, 'node_modules/@millrace/node');
let tarball = '';

before(async () => {
  // In a copy: the examples, which may be tested at the same time, use what is built in its place.
  const { files } = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8')) as { files: string[] };
  for (const file of ['package.json', ...files.filter((name) => name !== 'dist')])
    cpSync(join(HERE, file), join(copy, file), { recursive: true });
  await run(process.execPath, ['build.ts', copy], { cwd: HERE });
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', directory.path];
  const { stdout } = await run('npm', pack, { cwd: copy });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [{ filename: string }];
  tarball = join(directory.path, packed.filename);
  mkdirSync(installed, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1']);
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
});
after(() => directory[Symbol.dispose]());

suite('the package', () => {
  test(`is smaller than ${MOST_BYTES} bytes`, () => {
    const { size } = statSync(tarball);
    assert.ok(size < MOST_BYTES, `${size} bytes`);
  });

  test('has no dependencies, and the version it says it has', () => {
    const about = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<string, unknown>;
    assert.deepEqual([about['dependencies'], about['version']], [undefined, VERSION]);
  });

  for (const [way, code] of Object.entries({
    import: `import { Millrace } from '@millrace/node'; console.log(new Millrace('k').counts.sent);`,
    require: `const { Millrace } = require('@millrace/node'); console.log(new Millrace('k').counts.sent);`,
  })) {
    test(`works with ${way}`, async () => {
      const file = join(project, way === 'import' ? 'use.mjs' : 'use.cjs');
      writeFileSync(file, code);
      assert.equal((await run(process.execPath, [file])).stdout, '0\n');
    });
  }

  test('works where there is no Node, only fetch', async () => {
    const file = join(project, 'edge.mjs');
    writeFileSync(
      file,
      `const { log } = console;
      const { Buffer } = globalThis;
      delete globalThis.Buffer; delete globalThis.setImmediate; globalThis.process = undefined;
      const { Millrace } = await import('@millrace/node');
      // Node's own fetch cannot do without it; the package has looked by now.
      globalThis.Buffer = Buffer;
      const sent = [];
      globalThis.fetch = async (url, { body, headers }) => {
        const inflated = new Response(body).body.pipeThrough(new DecompressionStream(headers['Content-Encoding']));
        sent.push(...JSON.parse(await new Response(inflated).text()).batch);
        return new Response('{"success":true}');
      };
      const client = new Millrace('k');
      for (let n = 0; n < 50; n += 1) client.track({ userId: 'ü', event: 'E' });
      const { sent: count } = await client.close();
      log(count, sent.length);`,
    );
    assert.equal((await run(process.execPath, [file])).stdout, '50 50\n');
  });

  test('is clean for publint', async () => {
    const { stdout } = await run(join(ROOT, 'node_modules/.bin/publint'), ['--strict', tarball]);
    assert.match(stdout, /All good/);
  });

  test('is clean for "are the types wrong?"', async () => {
    // Node below 20.19, which cannot require a module of this kind, is not what this package is for.
    const options = ['--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm'];
    const { stdout } = await run(join(ROOT, 'node_modules/.bin/attw'), [tarball, ...options]);
    assert.match(stdout, /No problems found/);
  });
});

suite('its types compile', () => {
  const compilers = {
    'TypeScript 5.4': createRequire(join(HERE, 'types/package.json')).resolve('typescript/bin/tsc'),
    'TypeScript 7': join(ROOT, 'node_modules/typescript/bin/tsc'),
  };
  for (const [name, compiler] of Object.entries(compilers)) {
    for (const lib of ['es2022', 'es2022,dom']) {
      test(`under ${name} with ${lib} and nothing else installed`, async () => {
        cpSync(join(HERE, 'types/use-everything.ts'), join(project, 'use-everything.ts'));
        const options = [
          '--strict',
          '--exactOptionalPropertyTypes',
          '--noEmit',
          '--module',
          'nodenext',
          '--target',
          'es2022',
        ];
        const args = [compiler, ...options, '--lib', lib, 'use-everything.ts'];
        await run(process.execPath, args, { cwd: project }).catch((error: { stdout: string }) =>
          assert.fail(error.stdout),
        );
      });
    }
  }
});
