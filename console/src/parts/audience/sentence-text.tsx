import { OuterText } from '../texts.tsx';
import type { Piece } from './pieces.ts';

/** A sentence of pieces: the names of others stand out, and are only ever text. */
export function SentenceText({ pieces }: { pieces: readonly Piece[] }) {
  return pieces.map((piece, place) =>
    typeof piece === 'string' ? (
      piece
    ) : (
      // oxlint-disable-next-line react/no-array-index-key -- a sentence has no other order
      <b key={place}>
        <OuterText text={piece.name} most={120} />
      </b>
    ),
  );
}
