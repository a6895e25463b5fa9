/** Texts in the columns of a terminal, and texts of others made harmless for the middle of a line. */
import { inline } from '../output/print.ts';
import { cutTo, GRAPHEMES, widthOf } from '../output/width.ts';

const PLAIN = /^[\x20-\x7e]*$/;

/**
 * One line of harmless text, with more escaped than `inline` does: lone surrogates, blank letters and tags, which some terminals draw
 * and some leave out.
 */
export function harmless(text: string): string {
  if (PLAIN.test(text)) return text;
  // Variation selectors change the width of the character before them in some terminals and not in others.
  const plain = inline(text.replaceAll(/[\ufe00-\ufe0f]/g, ''));
  return plain.replaceAll(/\p{Cs}|[\u061c\u2800\u3164\uffa0\u{e0000}-\u{e0fff}]/gu, escapeOf);
}

function escapeOf(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}

/** The text cut to a number of columns, with an ellipsis where something was cut. */
export function cut(text: string, columns: number): string {
  return columns <= 0 ? '' : cutTo(text, columns);
}

/** The text in exactly this many columns. */
export function fit(text: string, columns: number, align: 'left' | 'right' = 'left'): string {
  const short = cut(text, columns);
  const space = ' '.repeat(Math.max(0, columns - widthOf(short)));
  return align === 'left' ? short + space : space + short;
}

/** The text in lines of at most this many columns. */
export function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) {
    const own = widthOf(segment);
    if (width + own > columns && line !== '') {
      lines.push(line);
      [line, width] = ['', 0];
    }
    line += segment;
    width += own;
  }
  return [...lines, line];
}
