/**
 * The documentation for programs that read text: `llms.txt` (the index by reader, https://llmstxt.org), `llms-full.txt` (every page in
 * one file), and each page as Markdown beside its HTML.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { projectFiles } from '../../scripts/project-files.ts';
import { readOpenApi } from './api/openapi.ts';
import { referencePage } from './api/reference-page.ts';
import { pageOf, ROOT_DIR, siteLink } from './site-pages.ts';

const LINK = /\]\((?![a-z][a-z+.-]*:|\/|#)([^)\s]+)\)/gi;

type Page = { page: string; text: string };

export function writeTexts(outDir: string): void {
  const pages = [...documentPages(), ...apiPages()];
  for (const { page, text } of pages) write(join(outDir, page), text);
  write(join(outDir, 'llms.txt'), indexText());
  write(join(outDir, 'llms-full.txt'), pages.map(({ page, text }) => `<!-- ${page} -->\n\n${text}`).join('\n\n'));
}

function indexText(): string {
  const index = readFileSync(join(ROOT_DIR, 'docs/README.md'), 'utf8').replace(/^# .*/, '');
  const head = '# Millrace\n\n> Self-hosted event collection with webhook delivery.';
  const api = '## API reference\n\n- [openapi.json](use/openapi.json), and a page for each group of endpoints:';
  const groups = readOpenApi().tags.map(({ name, description }) => `- [${name}](use/api/${name}.md): ${description}`);
  return [head, relinked('docs/README.md', index).trim(), [api, ...groups].join('\n')].join('\n\n');
}

function documentPages(): Page[] {
  return projectFiles('*.md').flatMap((file) => {
    const page = pageOf(file);
    return page === undefined ? [] : [{ page, text: relinked(file, readFileSync(join(ROOT_DIR, file), 'utf8')) }];
  });
}

function apiPages(): Page[] {
  const api = readOpenApi();
  return api.tags.map(({ name }) => ({ page: `use/api/${name}.md`, text: referencePage(api, name) }));
}

/** Links between the files become links between the Markdown pages of the site, relative ones, so that they work in every folder. */
function relinked(file: string, text: string): string {
  const here = dirname(pageOf(file) ?? '');
  return text.replaceAll(LINK, (_link, href: string) => {
    const link = siteLink(file, href);
    return `](${link.startsWith('/') ? posix.relative(here, link.slice(1)) : link})`;
  });
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${text.trimEnd()}\n`);
}
