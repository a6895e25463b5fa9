/**
 * A recorder for each stream of outcomes that exists: those of the settings, and those that an earlier setting left behind, until
 * control deletes them. Every control process reads all streams, so a process that dies leaves none without a reader; the locks of
 * the record keep two processes from writing the same slots at once.
 */
import { openWaitingLine, type WaitingLine } from '../stream/nats/waiting-line.ts';
import type { RecordSide } from '../stream/open-record-side.ts';
import { type Recorder, type RecorderNeeds, startRecorder } from './record-outcomes.ts';
import { every } from '../pause.ts';

export type RecordersNeeds = Omit<RecorderNeeds, 'side' | 'turns' | 'mostHeld'> & {
  side: RecorderNeeds['side'] & Pick<RecordSide, 'outcomesStreams'>;
  /** With the recorders of other cells; by default the process has these alone. */
  shared?: SharedRecording | undefined;
  /** How often streams are looked for that another setting made or deleted. */
  listMs?: number;
};

/** The recorders of all cells of a process share one pool of connections to PostgreSQL, and one memory. */
export type SharedRecording = { turns: WaitingLine; cells: number };

const LIST_MS = 5_000;
/** Transactions of one process at a time: the rest of its connections to PostgreSQL is for the API. */
const MOST_WRITING = 4;
/** Batches that a process holds, shared by its streams: those of a long outage must fit into its memory, whatever receivers answered. */
const MOST_HELD = { ofProcess: 800, ofStream: 200, least: 20 };

export function shareRecording(cells: number): SharedRecording {
  return { turns: openWaitingLine(MOST_WRITING), cells };
}

export function startRecorders({ listMs = LIST_MS, shared = shareRecording(1), ...needs }: RecordersNeeds): Recorder {
  const { turns, cells } = shared;
  const recorders = new Map<string, Recorder>();
  const stopped: Promise<void>[] = [];
  let isStopping = false;
  const mostHeld = () => {
    const share = Math.floor(MOST_HELD.ofProcess / cells / Math.max(1, recorders.size));
    return Math.max(MOST_HELD.least, Math.min(MOST_HELD.ofStream, share));
  };

  async function follow(): Promise<void> {
    const listed = await needs.side.outcomesStreams();
    if (isStopping) return;
    for (const stream of listed) {
      if (!recorders.has(stream)) recorders.set(stream, startRecorder({ ...needs, turns, mostHeld }, stream));
    }
    for (const [stream, recorder] of recorders) {
      if (listed.includes(stream)) continue;
      recorders.delete(stream);
      stopped.push(Promise.resolve(recorder[Symbol.asyncDispose]()));
    }
  }

  const tryToFollow = () =>
    follow().catch((error: unknown) => needs.log.warn({ error: String(error) }, 'streams.not_listed'));
  let following = tryToFollow();
  const timer = every(listMs, () => {
    following = following.then(tryToFollow);
  });
  return {
    lagSeconds: () => Math.max(0, ...recorders.values().map((recorder) => recorder.lagSeconds())),
    async [Symbol.asyncDispose]() {
      isStopping = true;
      timer[Symbol.dispose]();
      await following;
      await Promise.all([...stopped, ...recorders.values().map((recorder) => recorder[Symbol.asyncDispose]())]);
    },
  };
}
