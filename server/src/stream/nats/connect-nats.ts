import { connect, type ConnectionOptions, createInbox, type NatsConnection } from '@nats-io/transport-node';
import type { Logger } from '../../log.ts';
import type { Counter, Metrics } from '../../metrics/open-metrics.ts';
import { guardCallbacks } from './guard-callbacks.ts';
import { explainNoConnection, natsAccess, type NatsFiles, wasTooSlow } from './nats-access.ts';

export type Connection = AsyncDisposable & {
  nc: NatsConnection;
  /** A new subject for answers. */
  inbox(): string;
  isConnected(): boolean;
  /** When the connection was lost, or undefined while it stands. */
  lostAt(): number | undefined;
  /** How often it was lost: an answer still awaited from before the last loss will not come. */
  losses(): number;
  /** Resolves at the next reconnect, or when the time is over. */
  reconnected(timeoutMs: number): Promise<void>;
  /** Calls at every reconnect, until the returned function is called. */
  onReconnect(listener: () => void): () => void;
  /** Gives up on a server that still holds the connection but answers nothing, for another one of the cluster. */
  leaveServer(why: string): void;
};

export type ConnectionNeeds = {
  url: string;
  files?: NatsFiles;
  /** Below which answers come in; a NATS user may read its own alone. */
  inbox?: string;
  name: string;
  log: Logger;
  metrics?: Metrics;
};
/** Makes a connection of that name, to the servers and as the user of this process. */
export type Connect = (name: string) => Promise<Connection>;

type Life = {
  lostAt: number | undefined;
  server: string;
  losses: number;
  counter: Counter | undefined;
  listeners: Set<() => void>;
};

/** How long the server just lost is passed over for the others; after that it is as good as any. */
const AVOID_LOST_SERVER_MS = 5_000;

/** A server that reads at all has taken what was written to it long before. */
const LAST_WRITES_MS = 1_000;

/** How often the first connection is tried while either side is too slow: later ones are tried for ever. */
const FIRST_TRIES = 3;

/** One connection to the cluster that moves on from a dead or cut-off server within seconds. */
export async function connectNats({
  url,
  files,
  inbox = '_INBOX',
  name,
  log,
  metrics,
}: ConnectionNeeds): Promise<Connection> {
  const counter = metrics?.counter('millrace_nats_losses_total');
  const life: Life = { lostAt: undefined, server: '', losses: 0, counter, listeners: new Set() };
  const access = natsAccess(url, files);
  const nc = await dial({ name, inboxPrefix: inbox, ...options(life), ...access }).catch((error: unknown) => {
    throw explainNoConnection(error, access);
  });
  guardCallbacks(nc, log.child({ connection: name }));
  life.server = nc.getServer();
  void followStatus(nc, life, log.child({ connection: name }));
  return {
    nc,
    inbox: () => createInbox(inbox),
    isConnected: () => life.lostAt === undefined && !nc.isClosed(),
    lostAt: () => life.lostAt,
    losses: () => life.losses,
    reconnected: (timeoutMs) => nextReconnect(life.listeners, timeoutMs),
    onReconnect(listener) {
      life.listeners.add(listener);
      return () => life.listeners.delete(listener);
    },
    leaveServer(why) {
      log.warn({ connection: name, server: nc.getServer(), why }, 'nats.left');
      nc.reconnect().catch(() => undefined);
    },
    async [Symbol.asyncDispose]() {
      await nc.close();
    },
  };
}

async function dial(to: ConnectionOptions, triesLeft = FIRST_TRIES): Promise<NatsConnection> {
  try {
    return await connect(to);
  } catch (error) {
    if (triesLeft <= 1 || !wasTooSlow(error)) throw error;
    return dial(to, triesLeft - 1);
  }
}

function options(life: Life): ConnectionOptions {
  return {
    // Building a stack trace for every request costs more than the request itself.
    noAsyncTraces: true,
    // A password changed on the servers and back again must not end us: by default two refusals close for good.
    ignoreAuthErrorAbort: true,
    timeout: 2_000,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 100,
    // A second by default: with TLS, a lost server would cost that much more.
    reconnectJitterTLS: 100,
    pingInterval: 2_000,
    maxPingOut: 2,
    // The library would dial the server it just lost first, and a cut-off one lets it wait for the whole timeout.
    reconnectToServer(pool) {
      if (life.server === '') return null;
      // The first question comes before the loss itself is reported, so no time of loss means just now.
      const isRecent = life.lostAt === undefined || performance.now() - life.lostAt < AVOID_LOST_SERVER_MS;
      return isRecent ? (pool.find((server) => server.listen !== life.server) ?? null) : null;
    },
  };
}

async function followStatus(nc: NatsConnection, life: Life, log: Logger): Promise<void> {
  for await (const status of nc.status()) {
    if (status.type === 'staleConnection' || status.type === 'forceReconnect') {
      dropSocket(nc);
    } else if (status.type === 'disconnect') {
      life.lostAt = performance.now();
      life.losses += 1;
      life.counter?.add();
      log.warn({ server: status.server }, 'nats.lost');
    } else if (status.type === 'reconnect') {
      life.lostAt = undefined;
      life.server = status.server;
      log.info({ server: status.server }, 'nats.reconnected');
      for (const listener of life.listeners) listener();
    } else if (status.type === 'error') {
      // Mostly a permission that the NATS user does not have: nothing else tells of a publish that was denied.
      log.error({ error: status.error.message }, 'nats.denied');
    }
  }
}

/** Parts of the library's connection that its types do not show. */
type Inside = { protocol?: { transport?: { socket?: { destroy(): void } } } };

/**
 * The library gives a server up only after the socket has taken what was written to it. The socket of a host that has vanished takes no
 * more than its buffers hold, and the kernel closes it after a quarter of an hour: until then the process would be without NATS.
 */
function dropSocket(nc: NatsConnection & Inside): void {
  const socket = nc.protocol?.transport?.socket;
  setTimeout(() => socket?.destroy(), LAST_WRITES_MS).unref();
}

function nextReconnect(listeners: Set<() => void>, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      listeners.delete(wake);
      resolve();
    };
    const timer = setTimeout(wake, timeoutMs);
    listeners.add(wake);
  });
}
