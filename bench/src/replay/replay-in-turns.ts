import { setTimeout as sleep } from 'node:timers/promises';
import { type Asked, type Job } from '../../../server/testing/stack.ts';
import type { Receivers } from './start-receivers.ts';
import { clockMs, type Span, spend } from './watch-other.ts';
import { until } from '../../../server/testing/until.ts';

export type TurnSize = { events: number; busyMs: number; quietMs: number };

/** Times in which a replay ran, and times beside them in which it was paused. */
export type Turns = { busy: Span[]; quiet: Span[] };

const LOOK_MS = 20;
const PATIENCE_MS = 900_000;
/** A pause takes effect within two seconds. */
const SETTLED_AFTER_MS = 2_500;

/** A replay of everything, paused again and again: both sides of the comparison see the same changes of the machine. */
export async function replayInTurns({
  stack,
  receivers,
  range,
  size,
}: {
  stack: Asked;
  receivers: Receivers;
  range: object;
  size: TurnSize;
}): Promise<Turns> {
  const turns: Turns = { busy: [], quiet: [] };
  await receivers.reset();
  const { id } = await stack.get<Job>('POST', '/replays', range);
  const giveUpAt = clockMs() + PATIENCE_MS;
  for (let isAll = false; !isAll; ) {
    const from = clockMs();
    while (!isAll && clockMs() < from + size.busyMs) {
      await sleep(LOOK_MS);
      isAll = (await receivers.look()).count >= size.events;
    }
    turns.busy.push({ from, to: clockMs() });
    if (clockMs() > giveUpAt) throw new Error('the replay does not end');
    if (!isAll) await stack.get('POST', `/replays/${id}/pause`);
    await sleep(SETTLED_AFTER_MS);
    turns.quiet.push(await spend(size.quietMs));
    if (!isAll) await stack.get('POST', `/replays/${id}/resume`);
  }
  await until(async () => (await stack.get<Job>('GET', `/replays/${id}`)).state === 'done');
  return turns;
}
