/**
 * Mermaid blocks become SVG while the site is built: the reader loads no program for them, and the colours follow light and dark
 * through the custom properties of the theme.
 */
import { createHash } from 'node:crypto';
import { renderMermaidSVG } from 'beautiful-mermaid';

/** The space that a character of a message takes, and the gap that the renderer leaves between two participants at least. */
const CHARACTER_PX = 6;
const NAME_CHARACTER_PX = 7.5;
const GAP_PX = 72;
/** The renderer trims ordinary spaces; a braille cell without dots is no space to it. */
const BLANK = '\u2800';
/** A diagram wider than the page shrinks to this part of its size, then scrolls. */
const LEAST_SCALE = 0.75;

/** The diagram as SVG. Its styles are those of site.css: Vue takes no style sheet inside of a page, and the renderer's asks for a font elsewhere. */
export function drawDiagram(source: string): string {
  // Keeps its arrow heads apart from those of other diagrams; the same in every build, since the browser takes the page over from it.
  const id = `d${createHash('sha256').update(source).digest('hex').slice(0, 8)}`;
  const isSequence = /^\s*sequenceDiagram/.test(source);
  const svg = renderMermaidSVG(isSequence ? widenParticipants(source) : source, { transparent: true, padding: 16 });
  const drawn = svg
    .replaceAll(/<style>[\s\S]*?<\/style>/g, '')
    .replaceAll(/\bid="([^"]+)"/g, `id="${id}-$1"`)
    .replaceAll(/url\(#([^)]+)\)/g, `url(#${id}-$1)`)
    .replace(/<svg ([^>]*width="([\d.]+)"[^>]*) style="[^"]*"/, (_tag, rest: string, width: string) => {
      return `<svg role="img" ${rest} style="min-width: ${Math.round(Number(width) * LEAST_SCALE)}px"`;
    });
  return `<div class="diagram${isSequence ? ' sequence' : ''}" v-pre>${drawn}</div>`;
}

/**
 * The renderer spaces participants by their names and lets longer messages run across the lifelines. Spaces around the names make
 * room for the longest message between neighbours.
 */
export function widenParticipants(source: string): string {
  const names = [...source.matchAll(/^\s*participant (\w+) as (.+)$/gm)].map(([, id = '', name = '']) => ({
    id,
    name,
  }));
  const needs = new Map<string, number>();
  for (const [, from = '', to = '', text = ''] of source.matchAll(/^\s*(\w+)-?->>(\w+): (.+)$/gm)) {
    const [first, last] = [from, to].map((id) => names.findIndex((each) => each.id === id)).toSorted((a, b) => a - b);
    if (first === undefined || last === undefined || first < 0 || last === first) continue;
    const longest = Math.max(...text.split('<br/>').map(({ length }) => length));
    const width = (longest * CHARACTER_PX - GAP_PX * (last - first)) / (last - first);
    for (const { id } of names.slice(first, last + 1)) needs.set(id, Math.max(needs.get(id) ?? 0, width));
  }
  return source.replaceAll(/^(\s*participant (\w+) as )(.+)$/gm, (_line, start: string, id: string, name: string) => {
    const missing = (needs.get(id) ?? 0) - name.length * NAME_CHARACTER_PX;
    const space = BLANK.repeat(Math.max(0, Math.ceil(missing / CHARACTER_PX / 2)));
    return `${start}${space}${name}${space}`;
  });
}
