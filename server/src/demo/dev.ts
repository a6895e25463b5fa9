/** `npm run dev`: the server with a demo source and a demo receiver; every event is shown when stored and when delivered. */
import { readConfig } from '../config.ts';
import { startDemoReceiver } from './demo-receiver.ts';
import { openDemoScreen } from './demo-screen.ts';
import { DEMO_KEY, DEMO_TOKEN } from '../secrets/demo-secrets.ts';
import { DESTINATION_ID, putDemoSource, SHARED_SECRET, untilDemoIsKnown, WRITE_KEY } from './demo-source.ts';
import { deliveryId } from '../domain/delivery.ts';
import { openLog } from '../log.ts';
import { openKeyRing } from '../secrets/seal.ts';
import { openEntrySigner } from '../secrets/sign-entry.ts';
import { nextStopSignal, startRoles } from '../start-roles.ts';
import { connectNats } from '../stream/nats/connect-nats.ts';
import { inboxPrefix, userOf } from '../stream/layout/permissions.ts';
import { followEvents } from '../stream/events/read-events.ts';

/** Everybody knows the demo's secrets, so only this machine may reach the server. */
const DEMO_SETTINGS = {
  MILLRACE_HOST: '127.0.0.1',
  MILLRACE_KEYS: `1:${DEMO_KEY.toString('base64')}`,
  MILLRACE_BOOTSTRAP_TOKEN: DEMO_TOKEN,
  // The demo receiver is here, and so are the receivers that people try out.
  MILLRACE_ALLOW_CIDRS: '127.0.0.0/8',
};

const read = readConfig(undefined, DEMO_SETTINGS);
if (!read.ok) throw new Error(read.problems.join('\n'));
const config = { ...read.value, collect: { ...read.value.collect, drainMs: 0 } };
const log = openLog({ level: 'warn', pretty: true });
const stopped = nextStopSignal();

await using stack = new AsyncDisposableStack();
const screen = openDemoScreen({
  deliveryIdOf: (sourceId, { messageId }) => deliveryId(DESTINATION_ID, sourceId, messageId),
  print: (text) => console.log(text),
});
const receiver = config.roles.includes('deliver')
  ? stack.use(await startDemoReceiver(SHARED_SECRET, screen.delivered))
  : undefined;
const running = stack.use(await startRoles(config, log));
const watching = stack.use(
  await connectNats({
    url: config.natsUrl,
    files: config.natsFiles,
    inbox: inboxPrefix(userOf(config.roles)),
    name: 'millrace-dev',
    log,
  }),
);
stack.use(await followEvents(watching, config.stream.eventStreams, screen.stored));
const isKnown = running.view && untilDemoIsKnown(running.view, receiver !== undefined);
await putDemoSource(
  running,
  receiver && {
    url: receiver.url,
    keyRing: openKeyRing(config.deliver.keys),
    signer: openEntrySigner(config.deliver.keys),
  },
);
await isKnown;
console.log(`
Millrace is collecting on http://localhost:${running.collectPort}   (write key: ${WRITE_KEY})

Send a call:
  curl -u ${WRITE_KEY}: http://localhost:${running.collectPort}/v1/track \\
    -d '{"userId":"u1","event":"Order Completed","properties":{"revenue":12.5}}'

${receiverLine()}${controlLine()}Calls appear here when they are stored${receiver === undefined ? '' : ' and when they are delivered'}; Ctrl-C stops.`);
await stopped;

function receiverLine(): string {
  if (receiver === undefined) return '';
  return `Calls are delivered to a demo receiver on ${receiver.url}   (secret: ${SHARED_SECRET})\n`;
}

function controlLine(): string {
  if (running.control === undefined) return '';
  return `The control API is on http://localhost:${running.control.port}   (token: ${DEMO_TOKEN})\n\n`;
}
