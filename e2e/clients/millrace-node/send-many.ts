/** `send-many.ts <package> <endpoint> <write key> <calls>`: a thousand calls a second; fails unless all are sent. */
import { setTimeout as sleep } from 'node:timers/promises';
import { openClient } from './open-client.ts';

const [directory = '', endpoint = '', writeKey = '', calls = ''] = process.argv.slice(2);
const client = await openClient(directory, writeKey, {
  endpoint,
  // A server that restarts is soon back.
  maxRetryMs: 1_000,
  maxTries: 40,
  onError: (problem: unknown) => console.error(problem),
});

for (let n = 1; n <= Number(calls); n += 1) {
  client.track({ messageId: `call-${n}`, userId: `user-${n % 7}`, event: 'Counted', properties: { n } });
  if (n % 20 === 0) await sleep(20);
}
const counts = await client.close();
if (counts.sent !== Number(calls)) {
  console.error(counts);
  process.exitCode = 1;
}
