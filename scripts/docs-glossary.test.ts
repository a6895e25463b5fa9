/** One word for each thing: exported names of server/src are held against docs/inside/glossary.md. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';

const ROOT_DIR = join(import.meta.dirname, '..');

/** Words that every program has; singular. */
const GENERAL = new Set(
  `about ahead amount append appender aside ask brief back body bound box case change class client clock code config connect connection context
  count counter credential day deadline dial end environment error failure field file fill gatherer group growth guard histogram
  hold identity idle index item key kind lag latency level limit limiter list logger login lookup method metric migration name
  need network option origin other owner page pair param part plan pool prefix problem process query range progress publication publisher read
  reader reason receipt report resolve retry role route row scan schedule schema screen secret send server session
  setting signer size span start stat state step sum table taker text time timing token traffic trouble trust tx unavailable url
  user value verdict version view visit want watch way work writer`.split(/\s+/),
);
/** The four roles, and small words in names such as WebhookOf. */
const ALSO = new Set('collect compute control deliver apart at from of once some something durable keyless'.split(' '));
/** Results named by their verb: Projected, Reading, Held. A noun is better. */
const PARTICIPLE = /(?:ed|ing)$|^(?:found|held|kept|seen|shut|taken|told|unread|withheld|written)$/;

type Word = { words: string[]; not: string[] };

function readGlossary(): Word[] {
  const text = readFileSync(join(ROOT_DIR, 'docs/inside/glossary.md'), 'utf8');
  const rows = [...text.matchAll(/^\| ([a-z, ]+) \| .+ \| (.*)\|$/gm)].filter(([, word]) => word !== 'word');
  const split = (cell = '') =>
    cell
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== '');
  return rows.map(([, words, not]) => ({ words: split(words), not: split(not) }));
}

function exportedNames(kinds: string): string[] {
  const pattern = new RegExp(`^export (?:async )?(?:${kinds}) (\\w+)`, 'gm');
  const files = globSync('server/src/**/*.ts', { cwd: ROOT_DIR }).filter((file) => !file.endsWith('.test.ts'));
  const names = files.flatMap((file) => [...readFileSync(join(ROOT_DIR, file), 'utf8').matchAll(pattern)]);
  return [...new Set(names.map(([, name = '']) => name))];
}

/** `DeadLetterBox` and `MAX_LETTERS` as words in lower case. */
function wordsOf(name: string): string[] {
  return [...name.matchAll(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g)].map(([word]) => word.toLowerCase());
}

function singulars(word: string): string[] {
  return [word, word.replace(/ies$/, 'y'), word.replace(/es$/, ''), word.replace(/s$/, '')];
}

suite('the glossary', () => {
  const glossary = readGlossary();
  const known = new Set(glossary.flatMap(({ words }) => words));
  const lastWords = new Set([...known].map((word) => word.slice(word.lastIndexOf(' ') + 1)));

  test('has the words that newcomers ask for', () => {
    const asked =
      'receiver look bucket side engine holder slot window sighting outbox projection lease backlog redrive job';
    assert.deepEqual(
      asked.split(' ').filter((word) => !known.has(word)),
      [],
    );
  });

  test('has the noun of every exported type', () => {
    const unknown = exportedNames('type|interface|class').filter((name) => {
      const words = wordsOf(name);
      const last = words.at(-1) ?? '';
      if (known.has(words.join(' ')) || PARTICIPLE.test(last) || ALSO.has(last)) return false;
      return !singulars(last).some((word) => lastWords.has(word) || GENERAL.has(word));
    });
    assert.deepEqual(unknown, [], 'add the word to docs/inside/glossary.md, or use one that is there');
  });

  test('forbids its synonyms in exported names', () => {
    const forbidden = new Set(glossary.flatMap(({ not }) => not));
    const used = exportedNames('type|interface|class|function\\*?|const').filter((name) =>
      wordsOf(name).some((word, at, words) =>
        [...singulars(word), `${words[at - 1]} ${word}`].some((each) => forbidden.has(each)),
      ),
    );
    assert.deepEqual(used, [], 'docs/inside/glossary.md has the word to use');
  });

  test('names each thing once', () => {
    const words = glossary.flatMap((row) => row.words);
    assert.deepEqual(
      words.filter((word, at) => words.indexOf(word) !== at),
      [],
    );
    assert.deepEqual(
      glossary.flatMap(({ not }) => not).filter((word) => known.has(word)),
      [],
    );
  });
});
