/**
 * A process that makes calls and comes to its end in the way it is told: `make-calls.ts <settings as JSON>`. Its
 * listeners append to the report, one line an event, so that a test can read it after any end.
 */
import { appendFileSync } from 'node:fs';
import { type CallsEvent, Millrace, type Options } from '../src/index.ts';
import { trackMany } from './watch-calls.ts';

export type End =
  | 'just ends'
  | 'awaits flush'
  | 'calls process.exit'
  | 'throws'
  | 'rejects'
  | 'is blocked'
  | 'waits for a signal'
  | 'has its own SIGTERM listener'
  | 'is killed while it makes calls';

export type Program = { options: Options; calls: number; firstCall?: number; end: End; report: string };

const { options, calls, firstCall = 1, end, report } = JSON.parse(process.argv[2] ?? '') as Program;
const client = new Millrace('key', options);
const note = ({ kind, calls }: CallsEvent) => {
  appendFileSync(report, `${JSON.stringify({ kind, ids: calls.map(({ messageId }) => messageId) })}\n`);
};
client.on('sent', note).on('failed', note).on('dropped', note);

if (end !== 'is killed while it makes calls') trackMany(client, calls, firstCall);
console.log('made');

switch (end) {
  case 'just ends':
    break;
  case 'awaits flush':
    console.log(JSON.stringify(await client.flush()));
    break;
  case 'calls process.exit':
    process.exit(0);
    break;
  case 'throws':
    setTimeout(() => {
      throw new Error('nobody catches this');
    }, 10);
    break;
  case 'rejects':
    void Promise.reject(new Error('nobody catches this'));
    break;
  case 'is blocked':
    block(3_000);
    break;
  case 'waits for a signal':
    setInterval(() => {}, 1_000);
    break;
  case 'has its own SIGTERM listener':
    setInterval(() => {}, 1_000);
    process.once('SIGTERM', () => {
      void client.close().then(() => process.exit(7));
    });
    break;
  case 'is killed while it makes calls':
    for (let n = firstCall; n < firstCall + calls; n += 1) {
      trackMany(client, 1, n);
      // Written when the call has returned: from then on it must not be lost.
      process.stdout.write(`${n}\n`);
      if (n % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    break;
}

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
