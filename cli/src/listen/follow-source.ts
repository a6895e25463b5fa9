/**
 * Follows the stored events of a source: the feed gives them in order from a cursor on, and the live tail only tells that there is
 * something new. So nothing is lost when the tail samples, the connection breaks or the server restarts: the next page begins where
 * the last one ended.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AcceptedEvent } from '@millrace/contract';
import type { FeedItems } from '@millrace/contract/control';
import type { Static } from 'typebox';
import type { Control } from '../api/control.ts';
import { Refusal } from '../api/problems.ts';
import { tailSource } from '../api/tail.ts';
import { Failure } from '../output/failures.ts';

export type FollowNeeds = {
  control: Pick<Control, 'ask' | 'stream'>;
  sourceId: string;
  /** Stored at or after; from now on when absent. */
  from: Date | undefined;
  /** Takes the events of a page; resolves when there is room for more. */
  take(events: readonly AcceptedEvent[]): Promise<void>;
  /** Something that a person should know about the connection. */
  tell(text: string, isProblem: boolean): void;
  /** The place from which on nothing is missed is known. */
  ready(): void;
  signal: AbortSignal;
};

type Page = Static<typeof FeedItems>;

const PAGE_SIZE = 200;
/** Without a word of the tail, which may be away or full. */
const LOOK_EVERY_MS = 5_000;
/** Events that the server holds back until their order is certain. */
const HELD_MS = 150;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5_000;

export async function followSource(needs: FollowNeeds): Promise<void> {
  const { signal, tell } = needs;
  const bell = openBell(signal);
  const ending = new AbortController();
  const listening = ringOnNews(needs, bell, AbortSignal.any([signal, ending.signal]));
  let cursor: string | undefined;
  try {
    while (!signal.aborted) {
      const page = await readPage(needs, cursor);
      if (page === undefined) return;
      if (page.hasGap) tell('Events were removed before they could be read: the retention of the server ended.', true);
      if (cursor === undefined) needs.ready();
      ({ cursor } = page);
      if (page.items.length > 0) await needs.take(page.items.map(({ event }) => event as AcceptedEvent));
      else if (page.isAtEnd) await bell.heard(LOOK_EVERY_MS);
      else await sleep(HELD_MS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    ending.abort();
    await listening;
  }
}

/** Asks until the server answers; undefined when the signal ends it. Throws for a refusal that does not pass by itself. */
async function readPage(needs: FollowNeeds, cursor: string | undefined): Promise<Page | undefined> {
  const { control, sourceId, from, tell, signal } = needs;
  const query = { limit: PAGE_SIZE, cursor, from: cursor === undefined ? from?.toISOString() : undefined };
  for (let waitMs = FIRST_WAIT_MS; !signal.aborted; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    try {
      const page = await control.ask<Page>('GET', `/sources/${encodeURIComponent(sourceId)}/feed`, { query, signal });
      if (waitMs > FIRST_WAIT_MS) tell('The server is back; the events go on where they stopped.', false);
      return page;
    } catch (error) {
      if (signal.aborted) return undefined;
      // Before the first answer an unreachable server is a mistake to tell at once.
      if (cursor === undefined || !isPassing(error)) throw error;
      if (waitMs === FIRST_WAIT_MS)
        tell(`${messageOf(error)} Events are kept there; listen goes on when it is back.`, true);
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }
  return undefined;
}

function isPassing(error: unknown): boolean {
  if (error instanceof Refusal) return error.problem.status >= 500 || error.problem.status === 429;
  return !(error instanceof Failure) || error.exit === 'unreachable';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The tail connects again by itself; without one, the feed is read every few seconds. */
async function ringOnNews({ control, sourceId }: FollowNeeds, bell: Bell, signal: AbortSignal): Promise<void> {
  try {
    for await (const item of tailSource(control, sourceId, {}, signal)) {
      if (item.kind === 'accepted' || item.kind === 'sampled' || item.kind === 'connected') bell.ring();
    }
  } catch {
    // The feed meets the same refusal, and tells it.
  }
}

type Bell = { ring(): void; heard(withinMs: number): Promise<void> };

/** A ring without a listener is kept for the next one. */
function openBell(signal: AbortSignal): Bell {
  let hasRung = false;
  let wake: () => void = () => undefined;
  return {
    ring() {
      hasRung = true;
      wake();
    },
    async heard(withinMs) {
      if (!hasRung) {
        const waiting = new AbortController();
        wake = () => waiting.abort();
        await sleep(withinMs, undefined, { signal: AbortSignal.any([signal, waiting.signal]) }).catch(() => undefined);
      }
      hasRung = false;
    },
  };
}
