/** Prints every stored event as one line of JSON, read from the streams' leaders. For people and for tests. */
import { readConfig } from './config.ts';
import { openLog } from './log.ts';
import { connectNats } from './stream/nats/connect-nats.ts';
import { inboxPrefix, userOf } from './stream/layout/permissions.ts';
import { readEvents } from './stream/events/read-events.ts';

// It plays no role of its own, so it needs nothing that only control needs.
const read = readConfig(undefined, { MILLRACE_ROLES: 'collect' });
if (!read.ok) throw new Error(read.problems.join('\n'));
const log = openLog({ level: 'error', pretty: false });
const { natsUrl, natsFiles, roles } = read.value;
const inbox = inboxPrefix(userOf(roles));
await using connection = await connectNats({ url: natsUrl, files: natsFiles, inbox, name: 'millrace-print', log });
for await (const { stream, sequence, sourceId, events } of readEvents(connection, read.value.stream.eventStreams)) {
  for (const event of events) process.stdout.write(`${JSON.stringify({ stream, sequence, sourceId, event })}\n`);
}
