/** A sentence with names of others in it: each name is a piece of its own, so that a screen can isolate and cut it. */
export type Piece = string | { name: string };

export function plain(pieces: readonly Piece[]): string {
  return pieces.map((piece) => (typeof piece === 'string' ? piece : piece.name)).join('');
}

/** "a", "a and b", "a, b and c". */
export function joined(parts: readonly (readonly Piece[])[], word: 'and' | 'or'): Piece[] {
  return parts.flatMap((part, place) => {
    if (place === 0) return [...part];
    return [place === parts.length - 1 ? ` ${word} ` : ', ', ...part];
  });
}
