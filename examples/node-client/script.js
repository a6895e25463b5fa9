// A script needs nothing special: its end waits for what is queued, exitTimeoutMs at most.
import { Millrace } from '@millrace/node';

const millrace = new Millrace(process.env.MILLRACE_WRITE_KEY, {
  endpoint: process.env.MILLRACE_ENDPOINT,
  onError({ kind, code, calls }) {
    console.error(`${calls.length} calls ${kind}: ${code}`);
    process.exitCode = 1;
  },
});

for (const row of [{ id: 1 }, { id: 2 }, { id: 3 }]) {
  // A past timestamp is a historical import.
  millrace.track({ userId: row.id, event: 'Imported', timestamp: new Date('2020-01-01') });
}
