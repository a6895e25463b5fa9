import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite, test } from 'node:test';
import { REFUSALS, REQUEST_PROBLEMS } from '../index.ts';
import {
  ATTEMPT_HELP,
  ERROR_CLASSES,
  GIVE_UP_HELP,
  GIVE_UP_REASONS,
  HELP,
  helpCodeOf,
  PEOPLE,
  PROBLEM_CODES,
  PROBLEM_HELP,
  REFUSAL_HELP,
  REQUEST_HELP,
  SKIP_HELP,
  SKIP_REASONS,
  STATUS_HELP,
} from './index.ts';

const MOST_TITLE = 50;
const MOST_SENTENCES = 160;
/** Names of fields and settings, code in backticks: people read these texts without the code. */
const CODE_WORD = /`|_|\b[a-z]+[A-Z]|\bMILLRACE|[{}<>]|\bnull\b/;

const LISTS = [
  [ATTEMPT_HELP, ERROR_CLASSES],
  [SKIP_HELP, SKIP_REASONS],
  [GIVE_UP_HELP, GIVE_UP_REASONS],
  [REFUSAL_HELP, Object.keys(REFUSALS)],
  [REQUEST_HELP, Object.keys(REQUEST_PROBLEMS)],
  [PROBLEM_HELP, PROBLEM_CODES],
] as const;

suite('the help texts', () => {
  test('explain every code, and nothing that is no code', () => {
    for (const [texts, codes] of LISTS) assert.deepEqual(Object.keys(texts).toSorted(), codes.toSorted());
  });

  test('give each code one meaning: no two lists share one', () => {
    const all = [...LISTS.flatMap(([, codes]) => [...codes]), ...Object.keys(STATUS_HELP)];
    assert.equal(new Set(all).size, all.length);
    assert.deepEqual(Object.keys(HELP).toSorted(), all.toSorted());
  });

  for (const [code, { title, cause, remedy, whoCanDoIt }] of Object.entries(HELP)) {
    test(`are short sentences in plain words: ${code}`, () => {
      assert.match(title, /^[A-Z].*[^.]$/);
      assert.ok(title.length <= MOST_TITLE, title);
      for (const text of [cause, remedy]) {
        assert.match(text, /^[A-Z0-9].*\.$/);
        assert.ok(text.length <= MOST_SENTENCES, `${text.length} characters: ${text}`);
        assert.ok(text.split(/\. /).length <= 2, `more than two sentences: ${text}`);
      }
      for (const text of [title, cause, remedy]) assert.doesNotMatch(text, CODE_WORD);
      assert.ok(whoCanDoIt in PEOPLE);
    });
  }

  test('cover every status of a receiver that is an error', () => {
    for (let status = 300; status < 600; status += 1) {
      const code = helpCodeOf(`http_${status}`);
      assert.ok(code !== undefined && code in STATUS_HELP, String(status));
    }
    assert.equal(helpCodeOf('http_503'), 'http_503');
    assert.equal(helpCodeOf('http_418'), 'http_4xx');
    assert.equal(helpCodeOf('tls_expired'), 'tls_expired');
    for (const code of ['http_200', 'toString', '']) assert.equal(helpCodeOf(code), undefined);
  });

  test('can be bundled for browsers: they import no package and nothing of Node', () => {
    const seen = new Set<string>();
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/from '([^']+)'/g)) {
        assert.match(path, /^\.\.?\//, `${file} imports ${path}`);
        visit(join(dirname(file), path));
      }
    };
    visit(join(import.meta.dirname, 'index.ts'));
    assert.ok(seen.size >= 8);
  });
});
