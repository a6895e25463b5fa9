/** `npm run dev`: the server with a demo source, readable logs, and every stored call shown on the screen. */
import type { AcceptedEvent } from '@millrace/contract';
import { hashOfKey } from './collect/find-write-key.ts';
import { readConfig } from './config.ts';
import { openLog } from './log.ts';
import { nextStopSignal, startRoles } from './start-roles.ts';
import { connectNats } from './stream/connect-nats.ts';
import { followEvents, type StoredRequest } from './stream/read-events.ts';

const WRITE_KEY = 'demo-write-key';

const read = readConfig();
if (!read.ok) throw new Error(read.problems.join('\n'));
const config = { ...read.value, collect: { ...read.value.collect, drainMs: 0 } };
const log = openLog({ level: 'warn', pretty: true });
const stopped = nextStopSignal();

await using stack = new AsyncDisposableStack();
const running = stack.use(await startRoles(config, log));
const writer = await running.stream.configWriter();
await writer.putSource({
  id: 'src_demo',
  workspaceId: 'ws_demo',
  name: 'Demo',
  enabled: true,
  writeKeyHashes: [hashOfKey(WRITE_KEY)],
});
const watching = stack.use(await connectNats({ url: config.natsUrl, name: 'millrace-dev', log }));
stack.use(await followEvents(watching, config.stream.eventStreams, show));
console.log(`
Millrace is collecting on http://localhost:${running.collectPort}   (write key: ${WRITE_KEY})

Send a call:
  curl -u ${WRITE_KEY}: http://localhost:${running.collectPort}/v1/track \\
    -d '{"userId":"u1","event":"Order Completed","properties":{"revenue":12.5}}'

Stored calls appear here; Ctrl-C stops.`);
await stopped;

function show({ stream: name, sequence, events }: StoredRequest): void {
  for (const event of events) {
    const time = event.receivedAt.slice(11, 23);
    console.log(
      `\n${time}  ${event.type.padEnd(8)}  ${subjectOf(event).padEnd(24)}  stored in ${name} as #${sequence}`,
    );
    console.log(`  ${JSON.stringify(event)}`);
  }
}

function subjectOf(event: AcceptedEvent): string {
  switch (event.type) {
    case 'track':
      return event.event;
    case 'page':
    case 'screen':
      return event.name ?? '';
    case 'group':
      return event.groupId;
    case 'identify':
    case 'alias':
      return event.userId ?? event.anonymousId ?? '';
  }
}
