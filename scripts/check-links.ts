/** Finds relative links in the project's Markdown that lead nowhere: a missing file, or a heading that the page does not have. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { projectFiles, report, ROOT_DIR } from './project-files.ts';

/** Inline links and images, with an optional title; and reference definitions. */
const LINK = /\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)|^\s*\[[^\]]+\]:\s*(\S+)/gm;
const EXTERNAL = /^(?:[a-z][a-z+.-]*:|\/\/)/i;

/** The broken links of these pages, in sentences. Paths are relative to `rootDir`. */
export function brokenLinks(rootDir: string, pages: readonly string[]): string[] {
  const headings = new Map<string, Set<string>>();
  const headingsOf = (page: string): Set<string> => {
    const known = headings.get(page) ?? anchors(readFileSync(join(rootDir, page), 'utf8'));
    headings.set(page, known);
    return known;
  };
  return pages.flatMap((page) =>
    linksOf(readFileSync(join(rootDir, page), 'utf8')).flatMap(({ line, target }) => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : normalize(join(dirname(page), decodeURIComponent(path)));
      if (file.startsWith('..') || !existsSync(join(rootDir, file)))
        return [`${page}:${line}: ${target} leads to no file`];
      if (anchor === undefined || !file.endsWith('.md') || headingsOf(file).has(anchor)) return [];
      return [`${page}:${line}: ${file} has no heading #${anchor}`];
    }),
  );
}

function linksOf(text: string): { line: number; target: string }[] {
  const prose = withoutCode(text);
  return [...prose.matchAll(LINK)]
    .map((match) => ({ line: prose.slice(0, match.index).split('\n').length, target: match[1] ?? match[2] ?? '' }))
    .filter(({ target }) => !EXTERNAL.test(target));
}

/** The anchors that GitHub gives to headings; a heading that occurs again gets a number. */
export function anchors(text: string): Set<string> {
  const found = new Set<string>();
  for (const [, heading = ''] of withoutBlocks(text).matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm)) {
    const anchor = slug(heading);
    let name = anchor;
    for (let n = 1; found.has(name); n += 1) name = `${anchor}-${n}`;
    found.add(name);
  }
  return found;
}

/** GitHub's anchor of one heading. */
export function slug(heading: string): string {
  const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');
  return words
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

function withoutCode(text: string): string {
  return withoutBlocks(text).replaceAll(/`[^`\n]*`/g, 'x');
}

/** Blanks code blocks, so that the numbers of lines stay. */
function withoutBlocks(text: string): string {
  return text.replaceAll(/^(`{3,}).*\n[\s\S]*?^\1$/gm, (block) => block.replaceAll(/[^\n]/g, ''));
}

if (import.meta.main) report(brokenLinks(ROOT_DIR, projectFiles('*.md')));
