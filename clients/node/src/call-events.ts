import type { CallsEvent, EventKind, Listener, SentCall } from './calls-event.ts';
import type { Problem } from './judge-answer.ts';

export type CallEvents = {
  on(kind: EventKind, listener: Listener): void;
  off(kind: EventKind, listener: Listener): void;
  /** For what concerns no call by itself. */
  warn(message: string): void;
  tell(kind: EventKind, problem: Problem, calls: readonly { text: string }[]): void;
};

const WARN_EVERY_MS = 10_000;

/** Tells every listener; calls are parsed only if there is one, and a listener that throws does not harm the others. */
export function makeCallEvents(onError: Listener | undefined): CallEvents {
  const listeners = { sent: new Set<Listener>(), failed: new Set<Listener>(), dropped: new Set<Listener>() };
  if (onError !== undefined) {
    listeners.failed.add(onError);
    listeners.dropped.add(onError);
  }
  const warn = makeWarning();
  return {
    on: (kind, listener) => void listeners[kind].add(listener),
    off: (kind, listener) => void listeners[kind].delete(listener),
    warn,
    tell(kind, { code, message }, calls) {
      if (calls.length === 0) return;
      if (listeners[kind].size === 0) {
        if (kind !== 'sent') warn(`${calls.length} calls ${kind}: ${code}: ${message}`);
        return;
      }
      const event: CallsEvent = { kind, code, message, calls: calls.map(({ text }) => JSON.parse(text) as SentCall) };
      for (const listener of listeners[kind]) tellOne(listener, event);
    },
  };
}

function tellOne(listener: Listener, event: CallsEvent): void {
  try {
    listener(event);
  } catch (error) {
    console.error('millrace: a listener threw', error);
  }
}

/** Without a listener, losses are at least logged; a dead service must not flood the log. */
function makeWarning(): (message: string) => void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (message) => {
    const now = performance.now();
    if (now - warnedAt < WARN_EVERY_MS) return;
    warnedAt = now;
    console.error(`millrace: ${message}`);
  };
}
