import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { suite, test } from 'node:test';
import { anchors, brokenLinks } from './check-links.ts';

function broken(pages: Record<string, string>): string[] {
  const dir = mkdtempSync(join(tmpdir(), 'links-'));
  try {
    for (const [page, text] of Object.entries(pages)) {
      mkdirSync(dirname(join(dir, page)), { recursive: true });
      writeFileSync(join(dir, page), text);
    }
    return brokenLinks(dir, Object.keys(pages));
  } finally {
    rmSync(dir, { recursive: true });
  }
}

suite('the link check', () => {
  test('finds a link to a file that is not there, with its line', () => {
    assert.deepEqual(broken({ 'README.md': '# A\n\nSee [there](docs/none.md).\n' }), [
      'README.md:3: docs/none.md leads to no file',
    ]);
  });

  test('finds a heading that another page, or the page itself, does not have', () => {
    const pages = { 'a.md': '[x](docs/b.md#two) [y](#here) [z](docs/b.md#one)\n', 'docs/b.md': '# One\n' };
    assert.deepEqual(broken(pages), ['a.md:1: docs/b.md has no heading #two', 'a.md:1: a.md has no heading #here']);
  });

  test('finds images and reference definitions, and a link that leaves the project', () => {
    const text = '![a](none.png)\n\n[ref]: gone.md\n\n[out](../x.md)\n';
    assert.equal(broken({ 'a.md': text }).length, 3);
  });

  test('passes over other sites and code', () => {
    assert.deepEqual(broken({ 'a.md': '[a](https://example.com/x#y) `[b](none.md)`\n\n```\n[c](none.md)\n```\n' }), []);
  });

  test('knows folders and links from one folder to another', () => {
    assert.deepEqual(broken({ 'docs/use/a.md': '[b](../run/b.md) [c](../run)\n', 'docs/run/b.md': '' }), []);
  });

  test('names headings as GitHub does', () => {
    const text = '# What is promised, and what is not\n## `NATS` & more\n## Twice\n## Twice\n```\n# code\n```\n';
    assert.deepEqual(anchors(text), new Set(['what-is-promised-and-what-is-not', 'nats--more', 'twice', 'twice-1']));
  });
});
