/** The site and GitHub show the same Markdown. These plugins turn its links to files into links to pages, and Mermaid into SVG. */
import { relative } from 'node:path';
import type { MarkdownRenderer } from 'vitepress';
import { drawDiagram } from './diagrams.ts';
import { isServedFile, ROOT_DIR, siteLink } from './site-pages.ts';

const OUTSIDE = /^(?:[a-z][a-z+.-]*:|\/|#)/i;
/** The address of a picture in HTML. Vite takes `docs/x.png` for the name of a package and `./docs/x.png` for a file. */
const BARE_SOURCE = /\b(src(?:set)?=)"(?![a-z]+:|[./])/g;

export function linkPlugin(md: MarkdownRenderer): void {
  md.core.ruler.push('project-links', ({ tokens, env }) => {
    const { realPath } = env as { realPath?: string };
    if (realPath === undefined) return;
    const file = relative(ROOT_DIR, realPath);
    for (const token of tokens.filter(({ type }) => type === 'html_block')) {
      token.content = token.content.replaceAll(BARE_SOURCE, '$1"./');
    }
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : null;
      if (href === null || OUTSIDE.test(href)) continue;
      const link = siteLink(file, href);
      token.attrSet('href', link);
      // VitePress takes every link without a target for a page.
      if (isServedFile(link)) token.attrSet('target', '_self');
    }
  });
}

export function diagramPlugin(md: MarkdownRenderer): void {
  const usual = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, at, ...rest) => {
    const token = tokens[at];
    // Shiki has no colours for queries of Prometheus.
    if (token?.info.trim() === 'promql') token.info = 'txt';
    if (token?.info.trim() !== 'mermaid') return usual?.(tokens, at, ...rest) ?? '';
    return drawDiagram(token.content);
  };
}
