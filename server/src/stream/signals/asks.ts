/**
 * Control asks, one deliver process answers: request and reply over core NATS, nothing is stored. A question is signed with the
 * key ring, because any NATS user can have a server publish to any subject (docs/run/threat-model.md, "The gap"). Its answer goes
 * to a subject made of the question's random token, and never to the reply subject of the message: otherwise a question could
 * make deliver publish anywhere.
 */
import { randomBytes } from 'node:crypto';
import type { AskAnswer, Question } from '../../domain/ask.ts';
import { isFields, readJson } from '../../domain/format.ts';
import type { Logger } from '../../log.ts';
import { answerSubject, ASK_SUBJECT } from '../layout/layout.ts';
import type { Connection } from '../nats/connect-nats.ts';

export type Asked =
  | { kind: 'answered'; answer: AskAnswer }
  /** The deliver process that got the question has as many under way as it may. */
  | { kind: 'busy' }
  /** No deliver process is there. */
  | { kind: 'nobody' }
  /** None answered in time. */
  | { kind: 'late' }
  /** This process is not connected to NATS. */
  | { kind: 'away' };

/** Control's side. Never rejects. */
export type Asks = { ask(question: Question, timeoutMs?: number): Promise<Asked> };

export type AskNeeds = {
  connection: Connection;
  /** Control signs a question, deliver checks it. */
  sign(text: string): string;
  isAuthentic(text: string): boolean;
  /** By the engine's clock. */
  now(): number;
  log: Logger;
};

/** Questions that one deliver process answers at a time. */
export const MAX_ASKS = 32;
/** A POST has five seconds, and the destination's newest configuration two to arrive. */
const ANSWER_WITHIN_MS = 9_000;
const WAIT_MS = 10_000;
/** The servers' default limit for a message is a megabyte. */
export const MAX_ANSWER_BYTES = 524_288;
/** A question that was recorded on its way cannot be asked again later. */
const FRESH_MS = 30_000;
const TOKEN = /^[\w-]{22}$/;
const KINDS: ReadonlySet<unknown> = new Set<Question['kind']>([
  'check_url',
  'read_proof',
  'test',
  'check_up',
  'rebuild',
  'post_audit',
]);

type Message = { to: string; at: number; question: Question };
type Reply = { kind: 'answered'; answer: AskAnswer } | { kind: 'busy' | 'late' };

export function openAsks({ connection, sign, now }: Omit<AskNeeds, 'isAuthentic' | 'log'>): Asks & Disposable {
  const { nc } = connection;
  const waiting = new Map<string, (asked: Asked) => void>();
  const prefix = answerSubject('');
  const subscription = nc.subscribe(answerSubject('*'), {
    callback(error, message) {
      if (error !== null) return;
      const settle = waiting.get(message.subject.slice(prefix.length));
      // The server itself answers a question that no subscription took.
      if (message.headers?.code === 503) settle?.({ kind: 'nobody' });
      else settle?.(readReply(message.string()));
    },
  });
  return {
    ask(question, timeoutMs = WAIT_MS) {
      if (!connection.isConnected()) return Promise.resolve({ kind: 'away' });
      const to = randomBytes(16).toString('base64url');
      return new Promise((resolve) => {
        const settle = (asked: Asked) => {
          clearTimeout(timer);
          waiting.delete(to);
          resolve(asked);
        };
        const timer = setTimeout(settle, timeoutMs, { kind: 'late' });
        waiting.set(to, settle);
        const message: Message = { to, at: now(), question };
        // The reply subject is for the server's word that there is no deliver process.
        nc.publish(ASK_SUBJECT, sign(JSON.stringify(message)), { reply: answerSubject(to) });
      });
    },
    [Symbol.dispose]() {
      subscription.unsubscribe();
      for (const settle of waiting.values()) settle({ kind: 'away' });
    },
  };
}

export type AnswerNeeds = Omit<AskNeeds, 'sign'> & { answer(question: Question): Promise<AskAnswer> };

/** A process that stops takes no more questions, answers those under way, and then lets go. */
export type Answering = Disposable & { stop(): void; underWay(): number };

/** Deliver's side: each question goes to one of the processes that subscribe. */
export function answerAsks({ connection, isAuthentic, now, log, answer }: AnswerNeeds): Answering {
  const { nc } = connection;
  let underWay = 0;
  let isOver = false;
  const reply = (to: string, said: Reply) => {
    // A POST that the end of this process broke off says nothing about its receiver.
    if (!isOver && !nc.isClosed()) nc.publish(answerSubject(to), textOf(said));
  };
  const take = async ({ to, question }: Message) => {
    underWay += 1;
    try {
      reply(to, await withinMs(answer(question), ANSWER_WITHIN_MS));
    } catch (error) {
      log.error({ kind: question.kind, error: error instanceof Error ? error.stack : String(error) }, 'ask.failed');
      reply(to, { kind: 'late' });
    } finally {
      underWay -= 1;
    }
  };
  const subscription = nc.subscribe(ASK_SUBJECT, {
    queue: 'deliver',
    callback(error, message) {
      if (error !== null) return;
      const text = message.string();
      const read = isAuthentic(text) ? readMessage(text, now()) : 'not signed by control';
      if (typeof read === 'string') log.warn({ why: read }, 'ask.refused');
      else if (underWay >= MAX_ASKS) reply(read.to, { kind: 'busy' });
      else void take(read);
    },
  });
  return {
    // The server may have sent one meanwhile: it is answered too. Without a connection there is nothing to end.
    stop: () => void subscription.drain().catch(() => undefined),
    underWay: () => underWay,
    [Symbol.dispose]() {
      subscription.unsubscribe();
      isOver = true;
    },
  };
}

/** A newer version may answer in ways that this one does not know. */
function readReply(text: string): Asked {
  const read = readJson(text);
  if (!read.ok || !isFields(read.value)) return { kind: 'late' };
  const { kind, answer } = read.value;
  if (kind === 'answered' && isFields(answer)) return { kind, answer: answer as AskAnswer };
  return kind === 'busy' ? { kind } : { kind: 'late' };
}

/** Reads a question, or says why it is none. Control signed it, so its question has the form that control gives it. */
function readMessage(text: string, now: number): Message | string {
  const read = readJson(text);
  if (!read.ok || !isFields(read.value)) return 'not a question';
  const { to, at, question } = read.value;
  if (typeof to !== 'string' || !TOKEN.test(to) || typeof at !== 'number' || !isFields(question))
    return 'not a question';
  if (Math.abs(now - at) > FRESH_MS) return 'asked too long ago';
  return KINDS.has(question['kind']) ? { to, at, question: question as Question } : 'asked by a newer version';
}

async function withinMs(answer: Promise<AskAnswer>, ms: number): Promise<Reply> {
  const late = Promise.withResolvers<Reply>();
  const timer = setTimeout(() => late.resolve({ kind: 'late' }), ms);
  try {
    return await Promise.race([answer.then((value): Reply => ({ kind: 'answered', answer: value })), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function textOf(said: Reply): string {
  const text = JSON.stringify(said);
  if (Buffer.byteLength(text) <= MAX_ANSWER_BYTES) return text;
  const answer: AskAnswer = { kind: 'not_applied', why: 'the answer is larger than Millrace hands on' };
  return JSON.stringify({ kind: 'answered', answer } satisfies Reply);
}
