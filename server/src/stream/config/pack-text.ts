/**
 * Texts of destinations in fewer bytes: the pieces that control writes into nearly all of them become one byte each, a third of the
 * text. Only the memory of a process holds packed texts, so another version may have other pieces.
 */
const PIECES = [
  '{"id":"dst_',
  '","workspaceId":"ws_',
  '","sourceId":"src_',
  '","catalog":"Webhooks","name":"',
  '","enabled":true,"',
  '","enabled":false,"',
  'paused":true,"',
  'settings":{"targets":[{"url":"https://',
  'settings":{"targets":[{"url":"http://',
  '","headers":{"Authorization":{"sealed":"AQA',
  '":{"sealed":"AQA',
  '"sharedSecret":{"sealed":"AQA',
  '"}}}],',
  '"}},"updatedAt":"20',
  '","updatedAt":"20',
  'Z","v":',
  '"filters":[{"field":"',
  '","op":"',
  '","value":"',
  '"successPolicy":"',
  '"bodyFormat":"',
] as const;

/** JSON has no control characters beside line breaks and tabs, so those that stand for a piece are free. */
const FREE = [1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27];
const AS_IT_IS = '\u001f';
const codeOf = new Map<string, string>(PIECES.map((piece, nth) => [piece, String.fromCharCode(FREE[nth] ?? 0)]));
const pieceOf = new Map<string, string>([...codeOf].map(([piece, code]) => [code, piece]));
const ANY_CODE = new RegExp(`[${[...pieceOf.keys()].join('')}${AS_IT_IS}]`, 'g');
// The longest piece first, so that it is not cut by a shorter one.
const ANY_PIECE = new RegExp(
  PIECES.toSorted((one, other) => other.length - one.length)
    .map((piece) => piece.replaceAll(/[[{}\].]/g, '\\$&'))
    .join('|'),
  'g',
);

export function packText(text: string): string {
  // No entry of ours has such characters; a broken one must come out as it came in.
  if (text.search(ANY_CODE) !== -1) return AS_IT_IS + text;
  return text.replace(ANY_PIECE, (piece) => codeOf.get(piece) ?? piece);
}

export function unpackText(packed: string): string {
  if (packed.startsWith(AS_IT_IS)) return packed.slice(1);
  return packed.replace(ANY_CODE, (code) => pieceOf.get(code) ?? code);
}
