/** `npm run dev` without flags: a source with a write key that is easy to type, a receiver, and a line for each event. */
import type { Config } from '../config.ts';
import { deliveryId } from '../domain/delivery.ts';
import type { Logger } from '../log.ts';
import { DEMO_TOKEN } from '../secrets/demo-secrets.ts';
import { openKeyRing } from '../secrets/seal.ts';
import { openEntrySigner } from '../secrets/sign-entry.ts';
import { type Running, startRoles } from '../start-roles.ts';
import { followEvents } from '../stream/events/read-events.ts';
import { inboxPrefix, userOf } from '../stream/layout/permissions.ts';
import { connectNats } from '../stream/nats/connect-nats.ts';
import { type DemoReceiver, startDemoReceiver } from './demo-receiver.ts';
import { openDemoScreen } from './demo-screen.ts';
import { addMembers } from './shop/add-members.ts';
import { askWithToken } from './shop/shop-api.ts';
import { DESTINATION_ID, putDemoSource, SHARED_SECRET, untilDemoIsKnown, WRITE_KEY } from './demo-source.ts';

type Needs = { config: Config; log: Logger };

/** Everybody may know the password: the server listens on this machine alone. */
const OWNER = {
  name: 'Demo owner',
  email: 'owner@demo.example',
  role: 'owner',
  password: 'demo-owner-password',
} as const;

export async function showCalls({ config, log }: Needs, stack: AsyncDisposableStack): Promise<void> {
  const screen = openDemoScreen({
    deliveryIdOf: (sourceId, { messageId }) => deliveryId(DESTINATION_ID, sourceId, messageId),
    print: (text) => console.log(text),
  });
  const receiver = config.roles.includes('deliver')
    ? stack.use(await startDemoReceiver(SHARED_SECRET, screen.delivered))
    : undefined;
  const running = stack.use(await startRoles(config, log));
  const { natsUrl: url, natsFiles: files } = config;
  const inbox = inboxPrefix(userOf(config.roles));
  const watching = stack.use(await connectNats({ url, files, inbox, name: 'millrace-dev', log }));
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
  if (running.control !== undefined) {
    const controlUrl = `http://127.0.0.1:${running.control.port}`;
    const token = config.control.bootstrapToken ?? DEMO_TOKEN;
    await addMembers(controlUrl, askWithToken(controlUrl, token), [OWNER]);
  }
  console.log(greeting(running, receiver));
}

function greeting({ collectPort, control }: Running, receiver: DemoReceiver | undefined): string {
  const receiverLine =
    receiver === undefined
      ? ''
      : `Calls are delivered to a demo receiver on ${receiver.url}   (secret: ${SHARED_SECRET})\n`;
  const controlLine =
    control === undefined
      ? ''
      : `The console is on http://localhost:${control.port}   (${OWNER.email}, ${OWNER.password})\n` +
        `The control API is there, too   (token: ${DEMO_TOKEN})\n\n`;
  return `
Millrace is collecting on http://localhost:${collectPort}   (write key: ${WRITE_KEY})

Send a call:
  curl -u ${WRITE_KEY}: http://localhost:${collectPort}/v1/track \\
    -d '{"userId":"u1","event":"Order Completed","properties":{"revenue":12.5}}'

${receiverLine}${controlLine}Calls appear here when they are stored${receiver === undefined ? '' : ' and when they are delivered'}; Ctrl-C stops.`;
}
