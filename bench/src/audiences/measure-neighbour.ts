import { setTimeout as sleep } from 'node:timers/promises';
import { openDice } from '../../../server/testing/compute/dice.ts';
import { addScene } from '../../../server/testing/stack.ts';
import { track } from '../../../server/testing/samples.ts';
import { clockMs, firstTimes, type OtherTimes, timesOf } from '../replay/watch-other.ts';
import type { Receivers } from '../replay/start-receivers.ts';
import { round } from '../spread.ts';
import { appendCalls } from './append-events.ts';
import type { Installation, Shop } from './installation.ts';
import { shopCall } from './shop.ts';

const EVERY_MS = 10;
const PATIENCE_MS = 3_000;

export type Neighbour = Record<'quiet' | 'saturated', { collect: OtherTimes; deliver: OtherTimes }> & {
  /** p99 saturated to quiet. */
  ratios: { collect: number; deliver: number };
};

type Watched = { answerMs: number[]; deliverMs: number[] };

/**
 * A hundred calls a second to a destination of their own, in turns while nothing computes and while compute catches up with a backlog:
 * how long until the answer, and from there to the receiver.
 */
export async function measureNeighbour(
  stack: Installation,
  shop: Shop,
  {
    receivers,
    users,
    backlog,
    turns,
    turnMs,
  }: {
    receivers: Receivers;
    users: number;
    backlog: number;
    turns: number;
    turnMs: number;
  },
): Promise<Neighbour> {
  const { writeKey } = await addScene(stack, receivers.otherUrl);
  const dice = openDice(11);
  const watched = {
    quiet: { answerMs: [], deliverMs: [] } as Watched,
    saturated: { answerMs: [], deliverMs: [] } as Watched,
  };
  for (let turn = 1; turn <= turns; turn += 1) {
    await stack.stopComputing();
    const call = (number: number, at: number) => shopCall(dice, number, { users, at });
    await appendCalls(stack.nats.url, shop, { first: turn * 1e9, count: backlog, call });
    await watch(stack, { writeKey, receivers, ms: turnMs, into: watched.quiet });
    await stack.startComputing();
    await watch(stack, { writeKey, receivers, ms: turnMs, into: watched.saturated });
  }
  const [quiet, saturated] = [figuresOf(watched.quiet), figuresOf(watched.saturated)];
  const ratio = (of: 'collect' | 'deliver') => round(saturated[of].p99Ms / quiet[of].p99Ms);
  return { quiet, saturated, ratios: { collect: ratio('collect'), deliver: ratio('deliver') } };
}

function figuresOf({ answerMs, deliverMs }: Watched) {
  return { collect: timesOf(answerMs), deliver: timesOf(deliverMs) };
}

let sent = 0;

type Watch = { writeKey: string; receivers: Receivers; ms: number; into: Watched };

async function watch(stack: Installation, { writeKey, receivers, ms, into }: Watch): Promise<void> {
  const answeredAt = new Map<string, number>();
  await receivers.others();
  const timer = setInterval(() => {
    const name = `neighbour ${(sent += 1)}`;
    const sentAt = clockMs();
    void stack.send(writeKey, [track(name)]).then(() => {
      answeredAt.set(name, clockMs());
      into.answerMs.push(clockMs() - sentAt);
    });
  }, EVERY_MS);
  await sleep(ms);
  clearInterval(timer);
  await sleep(PATIENCE_MS);
  const cameAt = firstTimes(await receivers.others());
  for (const [name, at] of answeredAt) into.deliverMs.push(Math.max(0, (cameAt.get(name) ?? Infinity) - at));
}
