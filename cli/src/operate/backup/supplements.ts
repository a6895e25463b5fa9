/** The supplements of a backup: files of one JSON line for each message that was stored after the beginning of a snapshot. */
import { createReadStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { StreamCopies, SupplementMessage } from '@millrace/server/stream-copies';
import type { Steps } from '../../output/steps.ts';
import type { StreamCopy } from './manifest.ts';
import { supplementOrder } from './stream-order.ts';
import { openFileWriter } from './write-file.ts';

/**
 * A delivery could stay unread only by a move between each two reads, to the stream that was just read. A round takes milliseconds,
 * and one in which nothing was stored proves that there was none.
 */
const MOST_ROUNDS = 3;

type Line = Omit<SupplementMessage, 'payload'> & { payload: string };
type Needs = { dir: string; taken: readonly StreamCopy[]; progress: Steps };

/** Reads what was stored since the snapshots; resolves with the copies and their supplements. */
export async function takeSupplements(copies: StreamCopies, { dir, taken, progress }: Needs): Promise<StreamCopy[]> {
  await using files = new AsyncDisposableStack();
  const order = supplementOrder(taken.map(({ stream }) => stream.name));
  const open = new Map<string, Supplement>();
  for (const { stream } of taken.filter((copy) => order.includes(copy.stream.name))) {
    const writer = files.use(await openFileWriter(dir, `streams/${stream.name}.supplement`));
    open.set(stream.name, { writer, next: stream.lastSequence + 1, messages: 0 });
  }
  for (let round = 1, isQuiet = false; round <= MOST_ROUNDS && !isQuiet; round += 1) {
    isQuiet = true;
    for (const name of order) {
      progress.step(`what was stored in ${name} meanwhile`);
      const supplement = open.get(name);
      if (supplement !== undefined && (await readOn(copies, name, supplement)) > 0) isQuiet = false;
    }
  }
  return await Promise.all(taken.map((copy) => withSupplement(dir, copy, open.get(copy.stream.name))));
}

type Supplement = { writer: Awaited<ReturnType<typeof openFileWriter>>; next: number; messages: number };

/** Resolves with the number of messages that it found. */
async function readOn(copies: StreamCopies, name: string, supplement: Supplement): Promise<number> {
  const before = supplement.messages;
  const take = async (message: SupplementMessage) => {
    const line: Line = { ...message, payload: Buffer.from(message.payload).toString('base64') };
    await supplement.writer.write(Buffer.from(`${JSON.stringify(line)}\n`));
    supplement.messages += 1;
  };
  supplement.next = await copies.supplement(name, { from: supplement.next, take });
  return supplement.messages - before;
}

async function withSupplement(dir: string, copy: StreamCopy, supplement: Supplement | undefined): Promise<StreamCopy> {
  if (supplement === undefined) return copy;
  const { messages, writer } = supplement;
  const facts = await writer.finish();
  if (messages > 0) return { ...copy, supplement: { ...facts, messages } };
  rmSync(join(dir, facts.file));
  return copy;
}

export async function* readSupplementFile(dir: string, file: string): AsyncGenerator<SupplementMessage> {
  for await (const text of createInterface({ input: createReadStream(join(dir, file)), crlfDelay: Infinity })) {
    const line = JSON.parse(text) as Line;
    yield { ...line, payload: Buffer.from(line.payload, 'base64') };
  }
}
