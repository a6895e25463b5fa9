/** Takes a share of one core and does nothing else. A neighbour that notices this process notices the machine, and not Millrace. */
import { once } from 'node:events';

const BURST_MS = 2;

const [share] = (await once(process, 'message')) as [number];
burn();

/** Bursts and pauses of random length, as the work of servers comes. */
function burn(): void {
  const burstMs = BURST_MS * aroundOne();
  const until = performance.now() + burstMs;
  while (performance.now() < until);
  setTimeout(burn, burstMs * (1 / share - 1) * aroundOne());
}

function aroundOne(): number {
  return 0.5 + Math.random();
}
