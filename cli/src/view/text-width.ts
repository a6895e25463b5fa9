/**
 * How many columns a text takes in a terminal, and texts of others made harmless: a name must not move the cursor, clear the screen
 * or reverse the line that it stands in.
 */
import { visible } from '@millrace/console/format/texts';

/** East Asian wide and fullwidth characters; emoji are told by their Unicode property. */
const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}])/u;
const ZERO = /^[\p{Mn}\p{Me}\ufe00-\ufe0f]/u;
const PLAIN = /^[\x20-\x7e]*$/;

/** One line of harmless text: control and invisible characters are written as escapes, and so are lone surrogates. */
export function harmless(text: string): string {
  if (PLAIN.test(text)) return text;
  // Variation selectors change the width of the character before them in some terminals and not in others.
  const plain = text
    .replaceAll(/[\ufe00-\ufe0f]/g, '')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t');
  return visible(plain).replaceAll(/\p{Cs}|[\u061c\u2800\u3164\uffa0\u{e0000}-\u{e0fff}]/gu, escapeOf);
}

function escapeOf(character: string): string {
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}

export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOfOne(character);
  return width;
}

function widthOfOne(character: string): number {
  if (ZERO.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** The text cut to a number of columns, with an ellipsis where something was cut. */
export function cut(text: string, columns: number): string {
  if (columns <= 0) return '';
  if (widthOf(text) <= columns) return text;
  let kept = '';
  let width = 0;
  for (const character of text) {
    const next = width + widthOfOne(character);
    if (next > columns - 1) break;
    kept += character;
    width = next;
  }
  return `${kept}…`;
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
  for (const character of text) {
    const own = widthOfOne(character);
    if (width + own > columns && line !== '') {
      lines.push(line);
      [line, width] = ['', 0];
    }
    line += character;
    width += own;
  }
  return [...lines, line];
}
