import { headers, type Msg } from '@nats-io/nats-core';
import type { Connection } from './connect-nats.ts';
import { type EngineTrouble, troubleOf } from './engine-errors.ts';

export type Publication = {
  subject: string;
  /** The same id twice within the duplicate window of a stream is one message. */
  id?: string;
  /** By name and value. */
  headers?: readonly (readonly [name: string, value: string])[];
  payload: Uint8Array;
};
export type PublishAnswer =
  | { kind: 'stored'; sequence: number; duplicate: boolean }
  | { kind: EngineTrouble; description: string };

export type Publisher = Disposable & {
  /** Sends one message; `answered` is called once with what the stream said, or never. Returns a way to stop waiting. */
  publish(publication: Publication, answered: (answer: PublishAnswer) => void): () => void;
};

/**
 * Publishes with an acknowledgement, all answers coming in on one subscription.
 * The library's own js.publish costs two to five times the CPU of this (bench/ has the figures), which is most of the
 * price of accepting a request. It also waits and retries by rules of its own, where we need to know at once.
 */
export function openPublisher({ nc, inbox: newInbox }: Pick<Connection, 'nc' | 'inbox'>): Publisher {
  const inbox = newInbox();
  const waiting = new Map<string, (answer: PublishAnswer) => void>();
  let count = 0;
  const answers = nc.subscribe(`${inbox}.*`, {
    callback(error, message) {
      if (error !== null) return;
      const answered = waiting.get(message.subject);
      if (answered === undefined) return;
      waiting.delete(message.subject);
      answered(readAnswer(message));
    },
  });

  return {
    publish({ subject, id, headers: given = NONE, payload }, answered) {
      count += 1;
      const reply = `${inbox}.${count.toString(36)}`;
      const head = headers();
      if (id !== undefined) head.append('Nats-Msg-Id', id);
      for (const [name, value] of given) head.append(name, value);
      nc.publish(subject, payload, id === undefined && given.length === 0 ? { reply } : { reply, headers: head });
      waiting.set(reply, answered);
      return () => waiting.delete(reply);
    },
    [Symbol.dispose]() {
      answers.unsubscribe();
    },
  };
}

const NONE: readonly (readonly [string, string])[] = [];

type Acknowledgement = { seq?: number; duplicate?: boolean; error?: { err_code?: number; description?: string } };

function readAnswer(message: Msg): PublishAnswer {
  // An empty message with status 503 means that the subject has no subscriber: no leader.
  if (message.data.length === 0)
    return { kind: 'no_leader', description: `status ${message.headers?.code ?? 'unknown'}` };
  const ack: Acknowledgement = message.json();
  if (ack.error !== undefined) {
    return { kind: troubleOf(ack.error.err_code ?? 0), description: ack.error.description ?? 'no description' };
  }
  if (ack.seq === undefined || ack.seq < 1) return { kind: 'refused', description: 'an answer without a sequence' };
  return { kind: 'stored', sequence: ack.seq, duplicate: ack.duplicate === true };
}
