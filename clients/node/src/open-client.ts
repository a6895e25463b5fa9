import { addCall, flushOutbox, giveUp, startSending } from './add-call.ts';
import { type CallEvents, makeCallEvents } from './call-events.ts';
import type { CallType } from './calls.ts';
import { openDebugLog } from './debug-log.ts';
import { encodeCall, type EncodeNeeds } from './encode-call.ts';
import { ClosedError } from './errors.ts';
import type { Counts } from './counts.ts';
import { makeIsoTime } from './iso-clock.ts';
import type { Options } from './options.ts';
import { readOptions, type Settings } from './read-options.ts';
import { openOutbox, type Outbox } from './outbox.ts';
import { openPost } from './post.ts';
import { onProcessEnd } from './process-end.ts';
import { sendNow } from './run-outbox.ts';
import { openSpool } from './spool.ts';
import { VERSION } from './version.ts';

export type Client = {
  readonly events: CallEvents;
  readonly outbox: Outbox;
  add(type: CallType, call: unknown): void;
  sendNow(type: CallType, call: unknown): Promise<void>;
  flush(): Promise<Counts>;
  close(): Promise<Counts>;
};

const EXIT = { code: 'exit', message: 'The process ended before the call was answered.' };

/** Everything behind the public class, wired together. */
export function openClient(writeKey: string, options: Options): Client {
  if (typeof writeKey !== 'string' || writeKey === '') throw new TypeError('Millrace needs the write key of a source.');
  const settings = readOptions(options);
  const events = makeCallEvents(settings.onError);
  const outbox = openParts(writeKey, settings, events);
  const encoding = encodingOf(settings);
  let closing: Promise<Counts> | undefined;

  function encoded(type: CallType, call: unknown) {
    if (closing !== undefined) throw new ClosedError();
    return encodeCall(type, call, encoding);
  }

  const flush = () => holding(flushOutbox(outbox));
  const forget = settings.flushOnExit ? watchEnd(outbox, settings) : () => {};

  async function closeOnce(): Promise<Counts> {
    const counts = await flush();
    forget();
    outbox.post.close();
    outbox.spool?.close();
    return counts;
  }

  return {
    events,
    outbox,
    add: (type, call) => addCall(outbox, encoded(type, call)),
    sendNow: async (type, call) => holding(sendNow(outbox, encoded(type, call))),
    flush,
    close: () => (closing ??= closeOnce()),
  };
}

function openParts(writeKey: string, settings: Settings, events: CallEvents): Outbox {
  const headers = {
    Authorization: `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${writeKey}:`)))}`,
    'Content-Type': 'application/json',
    'User-Agent': `millrace-node/${VERSION}`,
  };
  const outbox = openOutbox({
    settings,
    events,
    post: openPost({ url: settings.url, headers, timeoutMs: settings.timeoutMs }),
    spool: settings.spool === undefined ? undefined : openSpool(settings.spool, events.warn),
    log: openDebugLog(writeKey),
    random: Math.random,
  });
  if (outbox.windows.open > 0) startSending(outbox);
  return outbox;
}

function encodingOf({ now, makeId, library }: Settings): EncodeNeeds {
  return { nowMs: now, isoTime: makeIsoTime(), makeId, libraryText: JSON.stringify(library) };
}

/** Keeps the process alive while the caller waits: the timers between two tries do not. */
async function holding<T>(awaited: Promise<T>): Promise<T> {
  const hold = setInterval(() => {}, 2 ** 30);
  try {
    return await awaited;
  } finally {
    clearInterval(hold);
  }
}

function watchEnd(outbox: Outbox, { exitTimeoutMs }: Settings): () => void {
  return onProcessEnd({
    async ending() {
      if (outbox.windows.open === 0) return;
      const patience = setTimeout(() => giveUp(outbox, EXIT), exitTimeoutMs);
      await flushOutbox(outbox);
      clearTimeout(patience);
    },
    ended: () => giveUp(outbox, EXIT),
  });
}
