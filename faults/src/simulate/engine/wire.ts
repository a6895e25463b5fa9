/** Messages as the NATS protocol carries them, and subjects. */
import { MsgHdrsImpl } from '@nats-io/nats-core/internal';
import type { Msg, MsgHdrs } from '@nats-io/nats-core';

export type HeaderPair = readonly [name: string, value: string];
export type Status = { code: number; description: string };
export type WireMessage = {
  subject: string;
  reply?: string | undefined;
  headers?: readonly HeaderPair[];
  status?: Status;
  data: Uint8Array;
};

const EMPTY = new Uint8Array();

/** `*` stands for one token, `>` at the end for one or more. */
export function matches(pattern: string, subject: string): boolean {
  if (pattern === subject || pattern === '>') return true;
  if (!pattern.includes('*') && !pattern.endsWith('>')) return false;
  const [wanted, given] = [pattern.split('.'), subject.split('.')];
  for (const [index, token] of wanted.entries()) {
    if (token === '>') return given.length > index;
    if (given[index] === undefined || (token !== '*' && token !== given[index])) return false;
  }
  return wanted.length === given.length;
}

export function statusMessage(subject: string, status: Status, pairs: readonly HeaderPair[] = []): WireMessage {
  return { subject, status, headers: pairs, data: EMPTY };
}

export function jsonMessage(subject: string, value: object): WireMessage {
  return { subject, data: Buffer.from(JSON.stringify(value)) };
}

export function pairsOf(given: MsgHdrs | undefined): HeaderPair[] {
  return given === undefined
    ? []
    : given.keys().flatMap((name) => given.values(name).map((value) => [name, value] as const));
}

export function headerOf(message: Pick<WireMessage, 'headers'>, name: string): string | undefined {
  return message.headers?.find(([given]) => given === name)?.[1];
}

export function toHeaders({
  headers: pairs = [],
  status,
}: Pick<WireMessage, 'headers' | 'status'>): MsgHdrs | undefined {
  if (pairs.length === 0 && status === undefined) return undefined;
  const made = new MsgHdrsImpl(status?.code, status?.description);
  for (const [name, value] of pairs) made.append(name, value);
  return made;
}

/** As the engine stores headers, in base64. */
export function encodeHeaders(pairs: readonly HeaderPair[]): string | undefined {
  const made = toHeaders({ headers: pairs });
  return made === undefined ? undefined : Buffer.from((made as MsgHdrsImpl).encode()).toString('base64');
}

/** A message as the client library hands it to callbacks. */
export function toMsg(message: WireMessage, respond: (data: Uint8Array) => void): Msg {
  const text = () => Buffer.from(message.data).toString();
  const msg = {
    subject: message.subject,
    reply: message.reply ?? '',
    data: message.data,
    headers: toHeaders(message),
    sid: 0,
    respond(data: Uint8Array = EMPTY) {
      respond(data);
      return true;
    },
    json: () => JSON.parse(text()) as unknown,
    string: text,
  };
  return msg as unknown as Msg;
}
