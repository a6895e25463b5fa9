import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export type RawAnswer = { statuses: number[]; text: string; isClosed: boolean };

export type Expected = { answers: number; isClosed: boolean };

/** How long to look for surplus answers after all expected ones have come. */
const QUIET_MS = 40;
const PATIENCE_MS = 60_000;

/** Writes bytes to a socket as they are and reads until the server has hung up, or until all answers are there if it need not. */
export async function exchange(port: number, bytes: Buffer | string, expected: Expected): Promise<RawAnswer> {
  await using conversation = await openConversation(port);
  conversation.socket.write(bytes);
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (performance.now() < giveUpAt && !conversation.answer().isClosed) {
    const isComplete = !expected.isClosed && conversation.answer().statuses.length >= expected.answers;
    await Promise.race([conversation.heard(), sleep(isComplete ? QUIET_MS : 250)]);
    if (isComplete) break;
  }
  return conversation.answer();
}

export type Conversation = AsyncDisposable & {
  socket: Socket;
  answer(): RawAnswer;
  /** Resolves with the next bytes from the server, or when it hangs up. */
  heard(): Promise<void>;
  /** Resolves when the server has hung up. */
  closed: Promise<void>;
};

export async function openConversation(port: number): Promise<Conversation> {
  const socket = connect({ host: '127.0.0.1', port });
  const closed = Promise.withResolvers<void>();
  let heard = Promise.withResolvers<void>();
  let text = '';
  let isClosed = false;
  const wake = () => {
    heard.resolve();
    heard = Promise.withResolvers<void>();
  };
  socket.setNoDelay(true);
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    wake();
  });
  // A server that hangs up on us in the middle of our bytes is one of the answers.
  socket.on('error', () => undefined);
  socket.once('close', () => {
    isClosed = true;
    closed.resolve();
    wake();
  });
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  return {
    socket,
    answer: () => ({ statuses: statusesIn(text), text, isClosed }),
    heard: () => heard.promise,
    closed: closed.promise,
    async [Symbol.asyncDispose]() {
      socket.destroy();
      await closed.promise;
    },
  };
}

function statusesIn(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
}
