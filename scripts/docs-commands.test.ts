/**
 * Commands in the documents. The comment before a shell block says how it is held: `<!-- run -->`, here, in an empty folder with
 * `millrace` in PATH; `<!-- run by PATH -->`, by another test; `<!-- not run: REASON -->`. In every block, scripts, files and
 * commands of the project that it names must exist.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { buildProgram } from '../cli/src/program.ts';
import { projectFiles, ROOT_DIR } from './project-files.ts';

type Block = { place: string; mark: string; code: string };

const BLOCK = /(?:<!-- ((?:run|not run:)[^>]*?) -->\n+)?^```(?:sh|bash|shell|console)\n(.*?)^```$/gms;
const read = (file: string) => readFileSync(join(ROOT_DIR, file), 'utf8');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

const blocks: Block[] = projectFiles('docs/*.md').flatMap((page) => {
  const text = read(page);
  return [...text.matchAll(BLOCK)].map((match) => ({
    place: `${page}:${text.slice(0, match.index).split('\n').length}`,
    mark: match[1] ?? '',
    code: match[2] ?? '',
  }));
});

suite('every shell block of the documents', () => {
  test('is run by a test that exists, or says why not', () => {
    assert.ok(blocks.length > 5);
    for (const { place, mark } of blocks) {
      const [, file] = /^run by (\S+)$/.exec(mark) ?? [];
      if (mark === 'run') continue;
      if (file !== undefined) assert.ok(existsSync(join(ROOT_DIR, file)), `${place}: ${file} is not there`);
      else
        assert.match(
          mark,
          /^not run: \S.{10,}/,
          `${place}: put <!-- run by TEST --> or <!-- not run: REASON --> before it`,
        );
    }
  });

  test('that is marked as run here ends well', () => {
    const dir = mkdtempSync(join(tmpdir(), 'millrace-commands-'));
    try {
      writeFileSync(
        join(dir, 'millrace'),
        `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT_DIR, 'cli/src/main.ts')}' "$@"\n`,
        { mode: 0o755 },
      );
      for (const { place, code } of blocks.filter(({ mark }) => mark === 'run')) {
        const script = `PATH="${dir}:$PATH"\nset -eu\n${code}`;
        const { status, stderr } = spawnSync('sh', ['-c', script], { cwd: dir, encoding: 'utf8' });
        assert.equal(status, 0, `${place}: ${stderr}`);
      }
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  test('names only scripts of package.json, files and commands that exist', () => {
    const commands = new Set(buildProgram().commands.map((command) => command.name()));
    for (const { place, code } of blocks) {
      for (const [, name = ''] of code.matchAll(/\bnpm run (?:--silent )?([\w:]+)/g))
        assert.ok(name in scripts, `${place}: npm run ${name}`);
      for (const [, file = ''] of code.matchAll(/\bnode ((?:server|scripts|cli|release|site|bench)\/[\w./-]+)/g))
        assert.ok(existsSync(join(ROOT_DIR, file)), `${place}: ${file}`);
      for (const [, name = ''] of code.matchAll(/^(?:npx )?millrace ([a-z][\w-]*)/gm))
        assert.ok(commands.has(name), `${place}: millrace ${name} is no command`);
    }
  });
});

test('the guides for moving have the same line for a library as the collection API, and name tests that exist', () => {
  const lines = (page: string) =>
    new Map(
      read(page)
        .split('\n')
        .map((line) => line.split(' | '))
        .filter(([library = '']) => library.startsWith('| '))
        .map(([library = '', line = '']) => [library.slice(2).split(',')[0] ?? '', /`(.+?)`/.exec(line)?.[1] ?? '']),
    );
  const known = lines('docs/use/collect-api.md');
  for (const page of ['docs/use/from-segment.md', 'docs/use/from-rudderstack.md']) {
    const shown = [...lines(page)].filter(([library]) => known.has(library));
    assert.ok(shown.length >= 2, page);
    for (const [library, line] of shown) assert.equal(line, known.get(library), `${page}: ${library}`);
    for (const [, name = ''] of read(page).matchAll(/`([\w-]+\.test\.ts)`/g))
      assert.ok(existsSync(join(ROOT_DIR, 'e2e/src', name)), name);
  }
});
