/**
 * The server of `millrace dev`: every role in one process, a source with a write key that is easy to type and a receiver whose deliveries
 * are shown, and the made-up shop with its traffic, which is set up while the server is ready already.
 */
import { type Config, readConfig } from '../config.ts';
import { deliveryId } from '../domain/delivery.ts';
import { type Logger, openLog } from '../log.ts';
import type { Environment } from '../read-setting.ts';
import { openKeyRing } from '../secrets/seal.ts';
import { openEntrySigner } from '../secrets/sign-entry.ts';
import { type Running, startRoles } from '../start-roles.ts';
import { followEvents } from '../stream/events/read-events.ts';
import { inboxPrefix, userOf } from '../stream/layout/permissions.ts';
import { connectNats } from '../stream/nats/connect-nats.ts';
import { type Received, startDemoReceiver } from './demo-receiver.ts';
import { type DemoScreen, openDemoScreen } from './demo-screen.ts';
import { DESTINATION_ID, putDemoSource, SHARED_SECRET, SOURCE_ID, untilDemoIsKnown, WRITE_KEY } from './demo-source.ts';
import { addMembers } from './shop/add-members.ts';
import { askWithToken } from './shop/shop-api.ts';
import { FORGOTTEN_USER } from './shop/shop-data.ts';
import { MEMBERS } from './shop/shop-plan.ts';
import { openShopReceivers } from './shop/shop-receivers.ts';
import { type Demo, startDemo } from './shop/start-demo.ts';

export type DemoServerOptions = {
  /** All of the server's settings: the environment is not read. */
  settings: Environment & { MILLRACE_BOOTSTRAP_TOKEN: string };
  logFile: string;
  /** Of every person of the shop. */
  password: string;
  shop: boolean;
  callsPerSecond: number;
  /** Shows stored and delivered events of the demo source, and the news of the shop. */
  print(text: string): void;
};

export type DemoServer = AsyncDisposable & {
  collectUrl: string;
  consoleUrl: string;
  writeKey: string;
  account: { email: string; password: string };
};

export async function startDemoServer(options: DemoServerOptions): Promise<DemoServer> {
  const config = configOf(options.settings);
  const log = openLog({ level: 'warn', pretty: false, file: options.logFile });
  const { callsPerSecond, password, print } = options;
  await using starting = new AsyncDisposableStack();
  // The receivers stop last: an attempt that is under way still gets its answer.
  const receivers = starting.use(await openShopReceivers(callsPerSecond));
  const shop = openShop(print);
  const screen = openScreen(print);
  const receiver = starting.use(
    await startDemoReceiver(SHARED_SECRET, (delivery, url) => isOfShop(delivery) || screen.delivered(delivery, url)),
  );
  const running = starting.use(await startRoles(config, log));
  const { control, collectPort } = running;
  if (control === undefined) throw new Error('the demo needs every role in one process');
  starting.use(await followOwnEvents({ config, log }, screen.stored));
  await addDemoSource(running, receiver.url, config);
  const [controlUrl, collectUrl] = [`http://127.0.0.1:${control.port}`, `http://127.0.0.1:${collectPort}`];
  const token = options.settings.MILLRACE_BOOTSTRAP_TOKEN;
  const [owner] = MEMBERS;
  await addMembers(controlUrl, askWithToken(controlUrl, token), [{ ...owner, password }]);
  const urls = { controlUrl, collectUrl };
  if (options.shop) shop.begin(() => startDemo({ ...urls, token, password, callsPerSecond, receivers, log }));
  starting.defer(shop.stop);
  const stack = starting.move();
  return {
    // Browsers take the session's cookie without TLS from this name alone.
    consoleUrl: `http://localhost:${control.port}`,
    collectUrl: `http://localhost:${collectPort}`,
    writeKey: WRITE_KEY,
    account: { email: owner.email, password },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function configOf(settings: Environment): Config {
  const read = readConfig(settings);
  if (!read.ok) throw new Error(read.problems.join('\n'));
  return { ...read.value, collect: { ...read.value.collect, drainMs: 0 } };
}

function openScreen(print: DemoServerOptions['print']): DemoScreen {
  return openDemoScreen({
    deliveryIdOf: (sourceId, { messageId }) => deliveryId(DESTINATION_ID, sourceId, messageId),
    print,
  });
}

/** A deletion request goes to every destination, so the one that the shop makes comes here, too. */
function isOfShop({ body }: Received): boolean {
  return body.includes(FORGOTTEN_USER);
}

/** The shop sends calls all the time; only those of the demo source are shown. */
async function followOwnEvents(
  { config, log }: { config: Config; log: Logger },
  show: DemoScreen['stored'],
): Promise<AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  const { natsUrl: url, natsFiles: files } = config;
  const inbox = inboxPrefix(userOf(config.roles));
  const watching = starting.use(await connectNats({ url, files, inbox, name: 'millrace-dev', log }));
  starting.use(
    await followEvents(watching, config.stream.eventStreams, (request) => {
      if (request.sourceId === SOURCE_ID) show(request);
    }),
  );
  return starting.move();
}

async function addDemoSource(running: Running, url: string, { deliver: { keys } }: Config): Promise<void> {
  if (running.view === undefined) throw new Error('the demo needs every role in one process');
  const isKnown = untilDemoIsKnown(running.view, true);
  await putDemoSource(running, { url, keyRing: openKeyRing(keys), signer: openEntrySigner(keys) });
  await isKnown;
}

type Shop = {
  begin(start: () => Promise<Demo>): void;
  /** Ends the traffic. A set-up that is under way is left alone: it fails with the server, and says nothing. */
  stop(): Promise<void>;
};

function openShop(print: DemoServerOptions['print']): Shop {
  let isStopping = false;
  let demo: Demo | undefined;
  return {
    begin(start) {
      void start().then(
        (started) => {
          demo = started;
          print(`Fernhill Outdoor, a made-up shop, sends calls now: every screen of the console has data.`);
        },
        (error: unknown) => {
          const why = error instanceof Error ? error.message : String(error);
          if (!isStopping)
            print(`The made-up shop could not be set up, so the console shows your own events alone: ${why}`);
        },
      );
    },
    async stop() {
      isStopping = true;
      await demo?.[Symbol.asyncDispose]();
    },
  };
}
