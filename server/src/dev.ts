/** `npm run dev`: the server with a demo source, readable logs, and every stored call shown on the screen. */
import type { AcceptedEvent } from '@millrace/contract';
import { readConfig } from './config.ts';
import { putDemoSource, WRITE_KEY } from './demo-source.ts';
import { openLog } from './log.ts';
import { nextStopSignal, startRoles } from './start-roles.ts';
import { connectNats } from './stream/connect-nats.ts';
import { followEvents, type StoredRequest } from './stream/read-events.ts';

/** Known to everybody who reads this file, so nobody but this machine may reach the server. */
const DEMO_TOKEN = 'demo-token-that-is-good-for-nothing-else';
const DEMO_SETTINGS = {
  MILLRACE_HOST: '127.0.0.1',
  MILLRACE_KEYS: `1:${Buffer.alloc(32, 'demo').toString('base64')}`,
  MILLRACE_BOOTSTRAP_TOKEN: DEMO_TOKEN,
};

const read = readConfig(undefined, DEMO_SETTINGS);
if (!read.ok) throw new Error(read.problems.join('\n'));
const config = { ...read.value, collect: { ...read.value.collect, drainMs: 0 } };
const log = openLog({ level: 'warn', pretty: true });
const stopped = nextStopSignal();

await using stack = new AsyncDisposableStack();
const running = stack.use(await startRoles(config, log));
await putDemoSource(running);
const watching = stack.use(await connectNats({ url: config.natsUrl, name: 'millrace-dev', log }));
stack.use(await followEvents(watching, config.stream.eventStreams, show));
console.log(`
Millrace is collecting on http://localhost:${running.collectPort}   (write key: ${WRITE_KEY})

Send a call:
  curl -u ${WRITE_KEY}: http://localhost:${running.collectPort}/v1/track \\
    -d '{"userId":"u1","event":"Order Completed","properties":{"revenue":12.5}}'

${controlLine(running.control)}Stored calls appear here; Ctrl-C stops.`);
await stopped;

function controlLine(control: typeof running.control): string {
  if (control === undefined) return '';
  return `The control API is on http://localhost:${control.port}   (token: ${DEMO_TOKEN})\n\n`;
}

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
