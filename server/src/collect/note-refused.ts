import { problemOf, type Problem, type Refusal, type RequestShape } from '@millrace/contract';
import type { RefusedCalls } from '../stream/signals/refusals.ts';
import type { KeyFound } from './find-write-key.ts';
import { callsOf } from './hide-key.ts';
import { every } from '../pause.ts';

export type RefusedNeeds = { tell(refused: RefusedCalls): void; nowMs(): number };
export type Refused = Disposable & {
  note(found: KeyFound, request: RefusedRequest): void;
};

/** `problem` is there when nothing of the request was taken. */
export type RefusedRequest = {
  body: unknown;
  shape: RequestShape;
  problem?: Problem;
  refused: readonly Refusal[];
  /** Places of calls that are only counted, because their user is suppressed. */
  hidden: readonly number[];
};

const TELL_EVERY_MS = 1_000;
/** As many as control keeps of a day. */
const MAX_SAMPLES = 20;
const MAX_CALL_LENGTH = 2_000;

/** Tells control which calls were refused, with samples, so that the sender can find the mistake. */
export function openRefused({ tell, nowMs }: RefusedNeeds): Refused {
  const pending = new Map<string, RefusedCalls>();

  function noteOne({ source, writeKey }: KeyFound, { code, message, messageId, call }: RefusedCall): void {
    const key = `${source.id} ${code}`;
    const at = new Date(nowMs()).toISOString();
    const of = { workspaceId: source.workspaceId, sourceId: source.id, code };
    const known = pending.get(key) ?? { ...of, count: 0, at, samples: [] };
    pending.set(key, known);
    known.count += 1;
    known.at = at;
    // More samples a second would help no one, and without one a refusal costs next to nothing.
    if (known.samples.length === MAX_SAMPLES) return;
    const text = sampleText(call, writeKey);
    known.samples.unshift({
      at,
      message,
      ...(messageId === undefined ? {} : { messageId }),
      ...(text === undefined ? {} : { call: text }),
    });
  }

  const timer = every(TELL_EVERY_MS, () => {
    for (const refused of pending.values()) tell(refused);
    pending.clear();
  });
  return {
    note(found, request) {
      for (const refused of refusedCalls(request)) noteOne(found, refused);
    },
    [Symbol.dispose]: () => timer[Symbol.dispose](),
  };
}

type RefusedCall = { code: string; message: string; messageId?: string; call?: unknown };

/** Each refused call, with its content where that may be shown. */
function refusedCalls({ body, shape, problem, refused, hidden }: RefusedRequest): RefusedCall[] {
  if (problem !== undefined && refused.length === 0) {
    return [hidden.length > 0 ? problemOf(problem.code) : { ...whole(problem, body), call: body }];
  }
  const calls = shape === 'batch' ? callsOf(body, shape) : [body];
  return refused.map(({ index, code, message, ...id }) => {
    return hidden.includes(index) ? { code, message } : { code, message, ...id, call: calls[index] };
  });
}

function whole({ code }: Problem, body: unknown): { code: string; message: string; messageId?: string } {
  const id = typeof body === 'object' && body !== null && 'messageId' in body ? body.messageId : undefined;
  return { ...problemOf(code), ...(typeof id === 'string' && id.length <= 256 ? { messageId: id } : {}) };
}

/** Without the write key, wherever it stands. */
function sampleText(call: unknown, writeKey: string): string | undefined {
  try {
    const text: unknown = JSON.stringify(call, (field, value: unknown) => (field === 'writeKey' ? undefined : value));
    return typeof text === 'string' ? text.replaceAll(writeKey, '*').slice(0, MAX_CALL_LENGTH) : undefined;
  } catch {
    // A value that was parsed may still be nested too deeply to be written.
    return undefined;
  }
}
