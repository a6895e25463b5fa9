/** Customers' receivers, with the face of deliver's HTTP client. */
import type { Client } from '../../../server/src/deliver/client/open-client.ts';
import type { Answer, Post } from '../../../server/src/deliver/client/post.ts';
import { SET_HEADERS } from '../../../server/src/domain/webhook-headers.ts';
import type { Random } from '../seeded-random.ts';
import { running, type VirtualClock, type VirtualProcess } from './clock/virtual-clock.ts';

/**
 * How a receiver behaves: `ok`; `failing` answers 503; `throttling` 429 with Retry-After; `hanging` reads and never answers; `slow` takes
 * most of the five seconds; `breaking` reads the request and breaks the connection; `refusing` answers 400; `flaky` changes with each POST.
 */
export const MANNERS = ['ok', 'failing', 'throttling', 'hanging', 'slow', 'breaking', 'flaky', 'refusing'] as const;
export type Manner = (typeof MANNERS)[number];

/**
 * An event that a receiver has read. `isGood`: it answered 200, which may not have reached the sender. `isFinal`: it will not come again,
 * unless the answer got lost. `place` is its number in the batch that it came in.
 */
export type Arrival = {
  at: number;
  url: string;
  deliveryId: string;
  messageId: string;
  place: number;
  isGood: boolean;
  isFinal: boolean;
  by: string;
};

export type ReceiversNeeds = {
  clock: VirtualClock;
  random: Random;
  process: VirtualProcess;
  arrived(arrival: Arrival): void;
};
export type Receivers = { client(): Client; behave(host: string, manner: Manner): void; recover(): void };

/** Deliver's client gives up after five seconds. */
const TIMEOUT_MS = 5_000;
const ALTERNATING = ['ok', 'ok', 'failing', 'breaking', 'slow'] as const;

export function openReceivers({ clock, random, process, arrived }: ReceiversNeeds): Receivers {
  const manners = new Map<string, Manner>();

  function mannerOf(url: string): Manner {
    const manner = manners.get(new URL(url).host) ?? 'ok';
    return manner === 'flaky' ? random.pick(ALTERNATING) : manner;
  }

  function post(sent: Post): Promise<Answer> {
    const by = running.getStore();
    if (by === undefined) throw new Error('only a simulated process posts');
    const manner = mannerOf(sent.url);
    const wayMs = random.between(1, 30);
    const tookMs = wayMs + thinkingMs(manner, random);
    clock.after(wayMs, process, () => {
      const events = readPost(sent);
      // One bad event in a batch refuses them all: only one that is alone is refused for good.
      const isFinal = isGood(manner) || (manner === 'refusing' && events.length === 1);
      for (const [place, event] of events.entries())
        arrived({ ...event, place, url: sent.url, at: clock.now(), isGood: isGood(manner), isFinal, by: by.name });
    });
    return new Promise((resolve) => {
      const answer = answerOf(manner, tookMs);
      clock.after(tookMs, by, () => resolve(answer));
    });
  }

  return {
    client: () => ({
      post,
      check: () => Promise.reject(new Error('a simulation asks no questions')),
      stats: () => ({ inFlight: 0, pools: 0, sockets: 0 }),
      [Symbol.asyncDispose]: async () => undefined,
    }),
    behave: (host, manner) => manners.set(host, manner),
    recover: () => manners.clear(),
  };
}

function thinkingMs(manner: Manner, random: Random): number {
  if (manner === 'hanging') return TIMEOUT_MS;
  return manner === 'slow' ? random.between(3_000, 4_900) : random.between(1, 60);
}

const isGood = (manner: Manner): boolean => manner === 'ok' || manner === 'slow';

function answerOf(manner: Manner, totalMs: number): Answer {
  const timings = { totalMs };
  const status = (code: number): Answer => ({ kind: 'status', status: code, body: '', timings });
  switch (manner) {
    case 'failing':
      return status(503);
    case 'refusing':
      return status(400);
    case 'throttling':
      return { kind: 'status', status: 429, retryAfter: '7', body: '', timings };
    case 'hanging':
      return { kind: 'error', errorClass: 'timeout', message: 'no answer within 5 s', timings };
    case 'breaking':
      return { kind: 'error', errorClass: 'connection_reset', message: 'the connection broke', timings };
    default:
      return status(200);
  }
}

type Body = { event?: string; events?: { id: string; body: { event: string } }[] };

/** Clients name each event after its message: the documented body does not have the id of the message. */
function readPost({ headers, body }: Post): Pick<Arrival, 'deliveryId' | 'messageId'>[] {
  const { event = '', events } = JSON.parse(String(body)) as Body;
  if (events !== undefined) return events.map(({ id, body: { event: messageId } }) => ({ deliveryId: id, messageId }));
  return [{ deliveryId: headers[headers.indexOf(SET_HEADERS.id) + 1] ?? '', messageId: event }];
}
