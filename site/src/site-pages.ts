/**
 * Where each Markdown file of the project stands on the site. `docs/` is the source and keeps its shape; its files stay readable on
 * GitHub, so their links lead to files, and this table turns a file into a page.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';

export const ROOT_DIR = resolve(import.meta.dirname, '../..');
export const REPOSITORY_URL = 'https://github.com/millrace/millrace';

/** Pages from outside of docs/. */
const OTHER_PAGES: Readonly<Record<string, string>> = {
  'README.md': 'start/readme.md',
  'CHANGELOG.md': 'run/changelog.md',
  'CONTRIBUTING.md': 'inside/contributing.md',
  'SECURITY.md': 'run/reporting.md',
  'clients/node/README.md': 'use/clients/node.md',
  'clients/go/README.md': 'use/clients/go.md',
  'cli/README.md': 'use/clients/cli.md',
};

/** Files that the site serves as they are. */
export const SERVED_FILES: Readonly<Record<string, string>> = { 'docs/use/openapi.json': 'use/openapi.json' };

/** Whether a link of the site leads to one of them. */
export function isServedFile(link: string): boolean {
  return Object.values(SERVED_FILES).some((file) => link.endsWith(posix.basename(file)));
}

/** The page of a Markdown file, or undefined if the site does not show it. Both paths have no leading slash. */
export function pageOf(file: string): string | undefined {
  if (file in OTHER_PAGES) return OTHER_PAGES[file];
  if (file.startsWith('site/api/')) return file.replace('site/api/', 'use/api/');
  if (!file.startsWith('docs/') || !file.endsWith('.md')) return undefined;
  return file.slice('docs/'.length).replace(/(^|\/)README\.md$/, '$1index.md');
}

/** Globs for the folders and files at the top whose Markdown is no page. */
export function excludedGlobs(): string[] {
  const pages = ['docs', 'site/api', ...Object.keys(OTHER_PAGES)];
  const isPage = (path: string) => pages.some((page) => page === path || page.startsWith(`${path}/`));
  const globs = (dir: string): string[] =>
    readdirSync(join(ROOT_DIR, dir), { withFileTypes: true }).flatMap((entry) => {
      const path = posix.join(dir, entry.name);
      if (path === 'docs' || path === 'site/api' || entry.name === 'node_modules') return [];
      if (entry.isDirectory()) return isPage(path) ? globs(path) : [`${path}/**`];
      return entry.name.endsWith('.md') && !isPage(path) ? [path] : [];
    });
  return globs('');
}

/** The link of a page to another place of the project, as the site has it: a page, a served file, or the file in the repository. */
export function siteLink(fromFile: string, href: string): string {
  const [path = '', anchor] = href.split('#');
  const file = posix.normalize(posix.join(dirname(fromFile), decodeURIComponent(path))).replace(/\/$/, '');
  const hash = anchor === undefined ? '' : `#${anchor}`;
  const isThere = existsSync(join(ROOT_DIR, file));
  const page = pageOf(file) ?? pageOf(posix.join(file, 'README.md'));
  const hasPage = [file, posix.join(file, 'README.md')].some(
    (each) => each.endsWith('.md') && existsSync(join(ROOT_DIR, each)),
  );
  if (page !== undefined && hasPage) return `/${page}${hash}`;
  const served = SERVED_FILES[file];
  if (served !== undefined) return posix.relative(dirname(pageOf(fromFile) ?? ''), served);
  // A missing file stays as it is, and the build reports it as a dead link.
  if (!isThere) return href;
  const kind = statSync(join(ROOT_DIR, file)).isDirectory() ? 'tree' : 'blob';
  return `${REPOSITORY_URL}/${kind}/main/${file}${hash}`;
}
