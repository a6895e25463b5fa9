import type { Floors } from '../stream/events/floors.ts';
import type { Position } from './profiles/profile-store.ts';

/** Not more often than this; a floor that is old keeps more requests than are needed, and nothing else. */
const EVERY_MS = 1_000;
/** Also when nothing has moved: a late holder may have written an older one. */
const AGAIN_MS = 30_000;

/** Tells how far a stream has been read, so that it can be trimmed. Nothing waits for it. */
export function openFloorWriter(stream: string, floors: Pick<Floors, 'put'>) {
  let written = -1;
  let writtenMs = -Infinity;
  let isWriting = false;

  async function write(createdAt: number, through: number): Promise<void> {
    isWriting = true;
    const isWritten = await floors.put(stream, { createdAt, through }).catch(() => false);
    isWriting = false;
    writtenMs = performance.now();
    if (isWritten) written = through;
  }

  return {
    moved({ createdAt, sequence, left }: Position): void {
      const through = Math.min(sequence, ...left.map((each) => each - 1));
      const quietMs = through === written ? AGAIN_MS : EVERY_MS;
      if (!isWriting && performance.now() - writtenMs >= quietMs) void write(createdAt, through);
    },
  };
}
