/** The documentation site: `npm run docs` builds it, `npm run docs:dev` serves it while you write. */
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { defineConfigWithTheme, type DefaultTheme } from 'vitepress';
import { slug } from '../../scripts/check-links.ts';
import { excludedGlobs, pageOf, ROOT_DIR, SERVED_FILES } from '../src/site-pages.ts';
import { readSidebar } from '../src/sidebar.ts';
import { diagramPlugin, linkPlugin } from '../src/markdown-plugins.ts';
import { writeReference } from '../src/api/write-reference.ts';
import { writeTexts } from '../src/llms.ts';
import { scopedTokens } from '../src/scoped-tokens.ts';

const { version } = JSON.parse(readFileSync(join(ROOT_DIR, 'package.json'), 'utf8')) as { version: string };

writeReference();

export default defineConfigWithTheme<DefaultTheme.Config & { version: string }>({
  title: 'Millrace',
  description: 'Self-hosted event collection with webhook delivery',
  lang: 'en',
  srcDir: '..',
  srcExclude: excludedGlobs(),
  rewrites: (file) => pageOf(file) ?? file,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  // Commands and settings name the reader's own machine.
  ignoreDeadLinks: 'localhostLinks',
  markdown: {
    anchor: { slugify: slug },
    config: (md) => {
      md.use(linkPlugin);
      md.use(diagramPlugin);
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: readSidebar(),
    outline: [2, 3],
    nav: [
      { text: 'Start', link: '/start/concepts' },
      { text: 'Run', link: '/run/settings' },
      { text: 'API', link: '/use/api/' },
    ],
    version,
    docFooter: { prev: false, next: false },
  },
  vite: {
    plugins: [scopedTokens()],
    build: { chunkSizeWarningLimit: 2_000 },
  },
  buildEnd: ({ outDir }) => {
    writeTexts(outDir);
    for (const [file, place] of Object.entries(SERVED_FILES)) {
      mkdirSync(dirname(join(outDir, place)), { recursive: true });
      copyFileSync(join(ROOT_DIR, file), join(outDir, place));
    }
  },
  transformPageData: (page) => {
    // The editor of a page wants the file, which has another path than the page.
    page.frontmatter['file'] = relative('', page.filePath);
  },
});
