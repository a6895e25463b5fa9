import type { Socket } from 'node:net';

/**
 * Limits on the answer to one POST, whatever it contains: every byte, every read and every piece of it costs CPU and memory, which
 * all workspaces share.
 */
export const ANSWER_LIMITS = {
  /** Heads, 1xx answers, bodies and their framing, all together. */
  bytes: 65_536,
  /** Reads from the socket up to the final status, and after it. */
  reads: 512,
  readsAfterStatus: 128,
  /** Answers with a status below 200. */
  informational: 16,
  /** Pieces of the body, as the parser hands them on: one for each chunk or more. */
  pieces: 256,
} as const;

/**
 * The parser gets no more at a time. When it refuses a head it goes on to the end of what it was given and makes an error for
 * every further field: for 64 KiB of short fields that held the event loop for 300 ms.
 */
export const SLICE_BYTES = 1_024;

/** The rest of the limits for the POST that a connection carries. */
export type AnswerBudget = { bytes: number; reads: number; informational: number; pieces: number };

export function newBudget(): AnswerBudget {
  const { bytes, reads, informational, pieces } = ANSWER_LIMITS;
  return { bytes, reads, informational, pieces };
}

/** After the head only the body is left, and it matters little. */
export function narrowBudget(budget: AnswerBudget): void {
  budget.reads = Math.min(budget.reads, ANSWER_LIMITS.readsAfterStatus);
}

/**
 * Counts below the parser, because it calls no handler for some bytes: extensions of chunks, empty lines, reason phrases. Bytes
 * within the limits still go to the parser: the final status may be in them.
 */
export function limitReads(socket: Socket, budgetOf: () => AnswerBudget, onFlood: (detail: string) => void): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  socket.read = (size?: number): Buffer | null => {
    // The parser may have found a fault of its own, which says more.
    if (socket.destroyed) return null;
    const budget = budgetOf();
    if (budget.bytes <= 0 || budget.reads <= 0) {
      onFlood(budget.bytes <= 0 ? `more than ${ANSWER_LIMITS.bytes} bytes` : 'too many small pieces');
      return null;
    }
    const chunk = read(size ?? (socket.readableLength > SLICE_BYTES ? SLICE_BYTES : undefined));
    if (chunk === null) return null;
    const room = budget.bytes;
    // A full slice pays by its bytes.
    if (chunk.length < SLICE_BYTES) budget.reads -= 1;
    budget.bytes -= chunk.length;
    return chunk.length > room ? chunk.subarray(0, room) : chunk;
  };
}
