/**
 * Finds sentences without an actor, whose subject is one of the words below. Looks at comments, at the texts that
 * people read (summaries, errors, log lines) and at the pages of the docs. CONTRIBUTING.md gives the rule with examples.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFiles, report, ROOT_DIR } from './project-files.ts';

/** At the start of a sentence. A question may start with them. */
const HEADLESS =
  /^(?:(?:And|But|So|Then) )?(?:who|whoever|what|whatever|whichever|so many|so much|however many|such as|those who|its like)\b/i;
/** Anywhere in a sentence: name the actor instead. */
const FACELESS = /\b(?:somebody|nobody|anybody|whoever|its like|manieth)\b/i;
const NOT_OURS =
  /^(?:scripts\/check-prose|clients\/node\/types\/|CHANGELOG\.md|clients\/.*CHANGELOG\.md|LICENSE|docs\/use\/openapi\.json)/;

type Piece = { line: number; text: string };

/** The sentences of a file that break the rule, with their lines. */
export function headlessSentences(file: string, text: string): Piece[] {
  const pieces = file.endsWith('.md') ? paragraphs(text) : comments(text);
  return pieces.flatMap(({ line, text: piece }) =>
    sentences(piece)
      .filter((sentence) => (HEADLESS.test(sentence) && !sentence.endsWith('?')) || FACELESS.test(sentence))
      .map((sentence) => ({ line, text: sentence })),
  );
}

function comments(text: string): Piece[] {
  const found: Piece[] = [];
  for (const match of text.matchAll(/\/\*\*?([\s\S]*?)\*\/|(?:^|\s)((?:\/\/ .*(?:\n\s*(?=\/\/ )|$))+)/gm)) {
    const words = (match[1] ?? match[2] ?? '').replaceAll(/^\s*(?:\*|\/\/) ?/gm, '').replaceAll(/\s+/g, ' ');
    found.push({ line: lineAt(text, match.index), text: words.trim() });
  }
  for (const match of text.matchAll(/\b(?:summary|description|message|help):\s*'((?:[^'\\]|\\.)+)'/g))
    found.push({ line: lineAt(text, match.index), text: match[1] ?? '' });
  return found;
}

function paragraphs(text: string): Piece[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, (block) => block.replaceAll(/[^\n]/g, ''));
  const found: Piece[] = [];
  for (const match of prose.matchAll(/(?:^(?!\s*$).+\n?)+/gm)) {
    const isTable = match[0].startsWith('|');
    const parts = isTable ? match[0].split(/[|\n]/) : match[0].split(/^(?:\s*(?:[-*]|\d+\.)|#+|>) /m);
    for (const part of parts)
      found.push({ line: lineAt(prose, match.index), text: part.replaceAll(/\s+/g, ' ').trim() });
  }
  return found;
}

function sentences(text: string): string[] {
  return text
    .replaceAll(/`[^`]*`/g, 'x')
    .split(/(?<=[.!?:;])\s+/)
    .map((sentence) => sentence.replace(/^[*_("“]+/, '').trim())
    .filter((sentence) => sentence !== '');
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

if (import.meta.main) {
  const only = process.argv.slice(2);
  const files = projectFiles('*.ts', '*.md').filter((file) => !NOT_OURS.test(file) && isAsked(file, only));
  const found = files.flatMap((file) =>
    headlessSentences(file, readFileSync(join(ROOT_DIR, file), 'utf8')).map(
      ({ line, text }) => `${file}:${line}: ${text}`,
    ),
  );
  const advice = `${found.length} sentences without an actor: name who does it, see "Plain English" in CONTRIBUTING.md`;
  report(found.length === 0 ? [] : [...found, advice]);
}

function isAsked(file: string, only: readonly string[]): boolean {
  return only.length === 0 || only.some((start) => file.startsWith(start));
}
