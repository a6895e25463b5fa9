/** Clients: each sends requests of a few calls to a source, through collect's own way into the streams. */
import { hash } from 'node:crypto';
import { type Collect, playCollect } from './start-roles.ts';
import { running, type VirtualProcess } from './clock/virtual-clock.ts';
import type { World } from './world.ts';

export type Load = { collect: Promise<Collect>; process: VirtualProcess; stop(): void };

const MOST_CALLS = 8;
const TRIES = 4;
const USERS = 2;
const BEGINS_AFTER_MS = 2_500;

/** `gapMs` is the mean time between two requests. */
export function sendLoad(world: World, gapMs: number): Load {
  const { clock, random, destinations } = world;
  const process = clock.start('collect', random.next);
  const collect = running.run(process, () => playCollect(process, world.needs));
  const sources = [...new Set(destinations.map(({ sourceId }) => sourceId))];
  let isStopped = false;
  let requests = 0;
  const next = () => {
    if (isStopped) return;
    const [first = '', ...others] = sources;
    requests += 1;
    void sendOne(world, collect, { id: `r${requests}`, sourceId: random.pick([first, ...others]) });
    clock.after(random.between(0, gapMs * 2), process, next);
  };
  // The configuration is there first: a request to no destination would not be one that is lost.
  clock.after(BEGINS_AFTER_MS, process, next);
  return { collect, process, stop: () => (isStopped = true) };
}

/** A client tries again with the same ids until it is answered, a few times. */
async function sendOne(
  world: World,
  collect: Promise<Collect>,
  { id, sourceId }: { id: string; sourceId: string },
): Promise<void> {
  const { oracle, clock, random, trace } = world;
  const { append } = await collect;
  const count = 1 + Math.floor(random.next() * MOST_CALLS);
  const calls = Array.from({ length: count }, (_, index) => ({
    type: 'track',
    messageId: `${id}-${index}`,
    userId: `u${index % USERS}`,
    event: `${id}-${index}`,
  }));
  /** Calls of one user in one request. */
  const before = (index: number) =>
    calls
      .slice(0, index)
      .filter((_, each) => each % USERS === index % USERS)
      .map(({ messageId }) => messageId);
  const sent = calls.map(({ messageId }, index) => ({ messageId, sourceId, at: clock.now(), before: before(index) }));
  for (const each of sent) oracle.sent.set(each.messageId, { ...each, isAccepted: false });
  const receivedAt = new Date(clock.trueTime()).toISOString();
  const envelope = JSON.stringify({ shape: 'batch', receivedAt, requestId: id });
  const body = Buffer.from(JSON.stringify({ batch: calls }));
  const home = Number.parseInt(hash('sha256', id, 'hex').slice(0, 6), 16);
  for (let tries = 0; tries < TRIES; tries += 1) {
    const appended = await append({ sourceId, id, home, envelope, body });
    if (!appended.ok) continue;
    trace.note(`stored ${id} ${appended.stream}`);
    for (const each of sent) oracle.sent.set(each.messageId, { ...each, isAccepted: true });
    return;
  }
}
