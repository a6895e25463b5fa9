/** The thread of `watchPace`: does a piece of work now and then, and tells what all pieces cost. */
import { createHmac } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { type OrderCall, orderCall } from '../order-call.ts';

const EVERY_MS = 50;
const CALLS = 50;
/** Node compiles the work better after some rounds. */
const WARM_UP = 300;
/** Far more than the caches of a core hold: calls that come to the product are in no cache either. */
const TEXTS = Array.from({ length: 20_000 }, (_, index) => JSON.stringify(orderCall(index)));
const kept = Buffer.alloc(16_000_000);

let pieces = 0;
let next = 0;
let end = 0;

/** Reads calls, signs them and keeps them, as the product does. */
function piece(): void {
  for (let call = 0; call < CALLS; call += 1) {
    const { context, ...rest } = JSON.parse(TEXTS[next] ?? '') as OrderCall;
    const body = Buffer.from(JSON.stringify({ ...rest, context }));
    createHmac('sha256', 'k').update(body).digest();
    if (end + body.length > kept.length) end = 0;
    end += body.copy(kept, end);
    next = (next + 1) % TEXTS.length;
  }
  pieces += 1;
}

parentPort?.on('message', () => {
  const { user, system } = process.threadCpuUsage();
  parentPort?.postMessage({ us: user + system, pieces });
});
for (let round = 0; round < WARM_UP; round += 1) piece();
setInterval(piece, EVERY_MS);
parentPort?.postMessage('ready');
