/** Everything that `millrace listen` shows: one entry for each thing that happened. */
import type { AcceptedEvent } from '@millrace/contract';
import type { Forwarded } from '@millrace/server/forward';
import type { SignatureCheck } from './check-signatures.ts';

export type Headers = readonly (readonly [name: string, value: string])[];

type Base = { id: number; at: Date };

/** A call that was accepted. `isRepeat`: a request with the same message ids came before, and production would store it once. */
export type CallEntry = Base & { kind: 'call'; event: AcceptedEvent; bytes: number; isRepeat: boolean };

/** A call, or a whole request, that was refused. */
export type RefusedEntry = Base & {
  kind: 'refused';
  type: string;
  name: string;
  userId: string;
  bytes: number | undefined;
  code: string;
  message: string;
  call: unknown;
};

/** A webhook that was received. `body` is the parsed JSON; `problem` tells what is wrong with it. */
export type WebhookEntry = Base & {
  kind: 'webhook';
  url: string;
  headers: Headers;
  text: string;
  body: Record<string, unknown>;
  bytes: number;
  signatures: SignatureCheck[];
  status: number;
};

/** A failure that was asked for with --fail. */
export type InjectedEntry = Base & { kind: 'injected'; failure: string; method: string; path: string; bytes: number };

/** An event was sent on. `of` is the id of the entry that it belongs to. */
export type ForwardEntry = Base & { kind: 'forwarded'; of: number; event: AcceptedEvent } & Forwarded;

/** An event was not sent on, because the destination that `--as` names would not get it. */
export type SkippedEntry = Base & { kind: 'skipped'; of: number; event: AcceptedEvent; reason: string };

/** News about listening itself: the server went away, the receiver cannot be reached. */
export type NoteEntry = Base & { kind: 'note'; isProblem: boolean; text: string };

export type Entry = CallEntry | RefusedEntry | WebhookEntry | InjectedEntry | ForwardEntry | SkippedEntry | NoteEntry;

type WithoutBase<T> = T extends Entry ? Omit<T, 'id' | 'at'> : never;
export type NewEntry = WithoutBase<Entry>;

/** The name of a track event, page or screen, or what names a call of another type. */
export function nameOf(event: Readonly<Record<string, unknown>>): string {
  const { type, event: track, name, groupId } = event;
  const text = type === 'track' ? track : type === 'group' ? groupId : name;
  return typeof text === 'string' ? text : '';
}

export function userOf(event: Readonly<Record<string, unknown>>): string {
  const id = event['userId'] ?? event['User ID'] ?? event['anonymousId'];
  return typeof id === 'string' || typeof id === 'number' ? String(id) : '';
}
