import { TailEvent, TailQuery } from '@millrace/contract/control';
import { findSource } from '../../../store/sources.ts';
import { MAX_TAIL_PER_SECOND } from '../../../stream/signals/tail-entry.ts';
import type { Listening } from '../../../stream/signals/tail-listener.ts';
import { found } from '../../problems/problems.ts';
import { type Send, type StreamEvent, type StreamRoute, streamRoute } from '../../http/stream-route.ts';

const SECOND_MS = 1_000;

export const tailRoutes: StreamRoute[] = [
  streamRoute({
    isStream: true,
    method: 'GET',
    url: '/api/v1/sources/:id/tail',
    summary: 'A live tail: the calls of a source as they arrive, and their outcomes',
    permission: 'sources:read',
    payloads: {},
    query: TailQuery,
    answer: TailEvent,
    status: 200,
    async check({ actor, params }, { store }) {
      const { workspaceId } = actor;
      found(await store.inWorkspace(workspaceId, (tx) => findSource(tx, workspaceId, params.id)));
    },
    open: ({ params, query }, send, { tails }) =>
      tail(send, params.id, (heard) => tails?.listen(params.id, query, heard)),
  }),
];

type Listen = (heard: (entries: StreamEvent[], leftOut: number) => void) => Listening | undefined;

/**
 * Sends at most MAX_TAIL_PER_SECOND events a second, and reports how many it left out. It sends `open` only after NATS has the
 * subscription: a call right after `open` is never missed.
 */
function tail(send: Send, sourceId: string, listen: Listen): Disposable {
  const life = { isOpen: false, isOver: false };
  let leftOut = 0;
  let left = MAX_TAIL_PER_SECOND;
  const listening = listen((entries, missed) => {
    // Entries that other viewers subscribed to may arrive earlier.
    if (!life.isOpen) return;
    leftOut += missed;
    for (const entry of entries) {
      if (left > 0 && send(entry)) left -= 1;
      else leftOut += 1;
    }
  });
  const nextSecond = () => {
    left = MAX_TAIL_PER_SECOND;
    const report = { kind: 'sampled', leftOut, maxPerSecond: MAX_TAIL_PER_SECOND };
    if (leftOut > 0 && send(report)) leftOut = 0;
  };
  const timer = setInterval(nextSecond, SECOND_MS);
  const opened = { kind: 'open', sourceId, maxPerSecond: MAX_TAIL_PER_SECOND };
  void Promise.resolve(listening?.told).then(() => {
    if (life.isOver) return;
    send(opened);
    life.isOpen = true;
  });
  return {
    [Symbol.dispose]() {
      life.isOver = true;
      clearInterval(timer);
      listening?.[Symbol.dispose]();
    },
  };
}
