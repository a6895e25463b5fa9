/** The pages that describe the tree are held against the tree: files, functions, rooms, links. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { suite, test } from 'node:test';
import { roomTree } from './print-rooms.ts';

const ROOT_DIR = join(import.meta.dirname, '..');
const read = (file: string) => readFileSync(join(ROOT_DIR, file), 'utf8');

/** Rows of a table that end with a file and a name in it, both in backticks. */
function filesAndNames(page: string): { file: string; name: string }[] {
  const rows = read(page).matchAll(/\| `([\w/.-]+\.ts)` \| `(\w+)` \|$/gm);
  return [...rows].map(([, file = '', name = '']) => ({ file, name }));
}

function declares(file: string, name: string): boolean {
  return new RegExp(`^export (?:async )?(?:function\\*?|const|type|interface|class) ${name}\\b`, 'm').test(read(file));
}

function assertDeclared(page: string, least: number): void {
  const rows = filesAndNames(page);
  assert.ok(rows.length >= least, `${page} has ${rows.length} rows with a file and a name`);
  for (const { file, name } of rows) {
    assert.ok(existsSync(join(ROOT_DIR, file)), `${page} names ${file}, which is not there`);
    assert.ok(declares(file, name), `${page}: ${file} does not export ${name}`);
  }
}

suite('the pages about the tree', () => {
  test('show the rooms with their purpose: `node scripts/print-rooms.ts --write`', () => {
    assert.ok(read('docs/inside/architecture.md').includes(`\`\`\`\n${roomTree()}\n\`\`\``));
  });

  test('walk through one call by files and functions that exist', () => {
    assertDeclared('docs/inside/architecture.md', 20);
  });

  test('tell of lanes by files and functions that exist', () => {
    assertDeclared('docs/inside/lanes.md', 6);
  });

  test('say where each usual task is done, by files and names that exist', () => {
    assertDeclared('CONTRIBUTING.md', 13);
  });

  test('list every decision with its title, its status and its date', () => {
    const rows = [
      ...read('docs/inside/decisions/README.md').matchAll(/^\| (\d+) \| \[(.+)\]\((.+)\) \| (.+) \| (.+) \|$/gm),
    ];
    const listed = rows.map(([, number, title, file]) => [file, `# ${number}. ${title}`]);
    const pages = globSync('docs/inside/decisions/0*.md', { cwd: ROOT_DIR }).toSorted();
    assert.deepEqual(
      listed,
      pages.map((page) => [page.slice(page.lastIndexOf('/') + 1), read(page).split('\n', 1)[0]]),
    );
    for (const [, , , , status = '', date = ''] of rows) {
      assert.match(status, /^(?:in force|replaced)/);
      assert.match(date, /^\d{4}-\d\d-\d\d$/);
    }
  });

  test('name only files and folders that exist', () => {
    const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: ROOT_DIR })];
    const named = pages.flatMap((page) =>
      [...read(page).matchAll(/`((?:server|contract|scripts|deploy|examples|engines|docs)\/[\w/.-]+)`/g)].map(
        ([, path = '']) => ({ page, path }),
      ),
    );
    assert.ok(named.length > 80);
    assert.deepEqual(
      named.filter(({ path }) => !existsSync(join(ROOT_DIR, path))),
      [],
    );
  });

  test('can all be reached from the index', () => {
    const reached = new Set<string>();
    const follow = (page: string): void => {
      if (reached.has(page) || !existsSync(join(ROOT_DIR, page))) return;
      reached.add(page);
      for (const [, link = ''] of read(page).matchAll(/\]\(([^)#\s]+\.md)(?:#[^)]*)?\)/g)) {
        if (!/^[a-z]+:/.test(link)) follow(normalize(join(dirname(page), link)));
      }
    };
    follow('docs/README.md');
    const pages = globSync('docs/**/*.md', { cwd: ROOT_DIR });
    assert.deepEqual(
      pages.filter((page) => !reached.has(page)),
      [],
    );
  });
});
