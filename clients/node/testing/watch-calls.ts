import type { CallsEvent, Millrace } from '../src/index.ts';

export type Watched = { sent: string[]; failed: string[]; dropped: string[]; codes: Set<string> };

/** The id of every call, by the end that listeners heard of. */
export function watchCalls(client: Millrace): Watched {
  const watched: Watched = { sent: [], failed: [], dropped: [], codes: new Set() };
  const note = ({ kind, code, calls }: CallsEvent) => {
    for (const { messageId } of calls) watched[kind].push(messageId);
    if (kind !== 'sent') watched.codes.add(code);
  };
  client.on('sent', note).on('failed', note).on('dropped', note);
  return watched;
}

/** Makes `count` track calls with the ids c1, c2, … */
export function trackMany(client: Millrace, count: number, start = 1): void {
  for (let n = start; n < start + count; n += 1) client.track({ userId: 'u1', event: 'E', messageId: `c${n}` });
}
