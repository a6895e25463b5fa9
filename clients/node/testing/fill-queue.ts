/** `fill-queue.ts <endpoint> <calls> <whenFull>`: prints how the heap grew, what became of the calls, how many losses were told. */
import { Millrace, type WhenFull } from '../src/index.ts';
import { trackMany } from './watch-calls.ts';

const [endpoint = '', calls = '', whenFull = ''] = process.argv.slice(2);
const SLICES = 10;
let told = 0;
const client = new Millrace('key', {
  endpoint,
  whenFull: whenFull as WhenFull,
  exitTimeoutMs: 0,
  onError: ({ calls }) => {
    told += calls.length;
  },
});
const each = Number(calls) / SLICES;
const heapMiB: number[] = [];
for (let slice = 0; slice < SLICES; slice += 1) {
  for (let n = 0; n < each; n += 100) {
    trackMany(client, 100, slice * each + n);
    if (n % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  globalThis.gc?.();
  heapMiB.push(Math.round(process.memoryUsage().heapUsed / 1_048_576));
}
console.log(JSON.stringify({ heapMiB, counts: client.counts, told }));
