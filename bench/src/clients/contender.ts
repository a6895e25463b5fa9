/**
 * `contender.ts <ours | plain | twin | segment> <endpoint>`: told by its parent how many requests of 20 calls to make, one
 * after the other, it answers with the CPU time that took, and how much of it was the caller's.
 */
import { orderCall } from '../order-call.ts';
import { openOurs, openSegment, openTwin, type Sender } from './senders.ts';

export type Asked = { requests: number };
export type Told = { us: number; callerUs: number };

const CALLS = 20;
const [kind = '', endpoint = ''] = process.argv.slice(2);

const OPEN: Record<string, () => Sender> = {
  ours: () => openOurs(endpoint, true),
  plain: () => openOurs(endpoint, false),
  twin: () => openTwin(endpoint),
  segment: () => openSegment(endpoint),
};
const sender = OPEN[kind]?.();
if (sender === undefined) throw new Error(`nobody is called ${kind}`);
const calls = Array.from({ length: 200 }, (_, index) => orderCall(index));

process.on('message', ({ requests }: Asked) => void run(sender, requests).then((told) => process.send?.(told)));
process.on('disconnect', () => process.exit(0));
process.send?.({ us: 0, callerUs: 0 } satisfies Told);

async function run(sender: Sender, requests: number): Promise<Told> {
  let callerUs = 0;
  const before = process.cpuUsage();
  for (let request = 0; request < requests; request += 1) {
    const start = threadUs();
    for (let n = 0; n < CALLS; n += 1) sender.track(calls[(request * CALLS + n) % calls.length] ?? orderCall(n));
    callerUs += threadUs() - start;
    await sender.answered();
  }
  const { user, system } = process.cpuUsage(before);
  return { us: (user + system) / (requests * CALLS), callerUs: callerUs / (requests * CALLS) };
}

function threadUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
