/**
 * One connection of a simulated process to the model of the engine, with the face of the client library. Messages of a connection stay
 * in their order, both ways. A connection stands, or it is lost (messages on their way are gone) and made again, or closed.
 */
import { createInbox, errors, type Msg, type MsgHdrs, type NatsConnection, type Status } from '@nats-io/nats-core';
import { QueuedIteratorImpl, RequestError } from '@nats-io/nats-core/internal';
import type { Connection } from '../../../../server/src/stream/nats/connect-nats.ts';
import type { VirtualProcess } from '../clock/virtual-clock.ts';
import type { ModelEngine } from './model-engine.ts';
import { type Callback, type ModelSubscription, openSubscriptions } from './subscriptions.ts';
import { pairsOf, toMsg, type WireMessage } from './wire.ts';

type SubscribeOptions = { callback?: Callback; timeout?: number };
type PublishOptions = { reply?: string | undefined; headers?: MsgHdrs | undefined };

export type ModelConnection = {
  /** The first token of its subjects for answers. */
  prefix: string;
  owner: VirtualProcess;
  server(): number;
  /** Whether it has a subscription for the subject, and stands. */
  hears(subject: string): boolean;
  /** How many subscriptions it has. */
  subscribed(): number;
  /** A message for a subject that it may have subscribed to. */
  deliver(subject: string, message: WireMessage): void;
  /** The connection breaks; the client makes it again when a server is up. */
  cut(): void;
  close(): void;
};

const RECONNECT_MS = { least: 250, most: 600 };
const EMPTY = new Uint8Array();
const noResponders = () => new RequestError('no responders', { cause: new errors.NoRespondersError('') });

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function connectModel(engine: ModelEngine, owner: VirtualProcess, number: number): Connection {
  const { clock, random } = engine;
  const prefix = `_INBOX_${number}`;
  const subscriptions = openSubscriptions();
  const statuses = new Set<QueuedIteratorImpl<Status>>();
  const listeners = new Set<() => void>();
  let server = pickServer() ?? 0;
  /** Counts the lives of the connection: a message of an earlier life is lost. */
  let life = 1;
  let state: 'connected' | 'lost' | 'closed' = 'connected';
  let lostAt: number | undefined;
  let losses = 0;
  let requests = 0;
  const buffered: WireMessage[] = [];
  const last = { up: 0, down: 0 };

  function pickServer(): number | undefined {
    const [first, ...others] = engine.servers.flatMap(({ isUp }, index) => (isUp ? [index] : []));
    return first === undefined ? undefined : random.pick([first, ...others]);
  }

  /** First in, first out, whatever the latency of each. */
  function travel(way: 'up' | 'down', to: VirtualProcess, arrive: () => void): void {
    const inLife = life;
    last[way] = Math.max(last[way], clock.now() + random.between(0.05, engine.mood.latencyMs));
    clock.after(last[way] - clock.now(), to, () => {
      // A message that was sent before the end of its process still arrives.
      if (inLife === life && (way === 'up' || state !== 'closed')) arrive();
    });
  }

  function send(message: WireMessage): void {
    if (state === 'closed') throw new errors.ClosedConnectionError();
    // The library sends at the reconnect what was published meanwhile.
    if (state === 'lost') buffered.push(message);
    else travel('up', engine.process, () => engine.receive(model, message));
  }

  function publish(
    subject: string,
    payload: Uint8Array | string = EMPTY,
    { reply, headers }: PublishOptions = {},
  ): void {
    const data = typeof payload === 'string' ? Buffer.from(payload) : payload;
    send({ subject, reply, headers: pairsOf(headers), data });
  }

  /** The server hears of the subscription: a watch sends nothing before. */
  function tellInterest(subject: string): void {
    if (state === 'connected') travel('up', engine.process, () => engine.subscribed(subject));
  }

  function subscribe(subject: string, { callback = () => undefined, timeout = 0 }: SubscribeOptions = {}) {
    const own: ModelSubscription = { subject, callback, isClosed: false, closed: Promise.withResolvers() };
    subscriptions.add(own);
    tellInterest(subject);
    // The library gives up on a subscription whose first message does not come in time.
    if (timeout > 0)
      own.timer = setTimeout(
        () =>
          callback(
            new errors.TimeoutError(),
            toMsg({ subject, data: EMPTY }, () => undefined),
          ),
        timeout,
      );
    const end = () => {
      subscriptions.remove(own);
      clearTimeout(own.timer);
      own.isClosed = true;
      own.closed.resolve();
    };
    const drain = () => Promise.resolve(end());
    const getSubject = () => own.subject;
    return { own, unsubscribe: end, drain, isClosed: () => own.isClosed, getSubject, closed: own.closed.promise };
  }

  function request(
    subject: string,
    payload: Uint8Array | string = EMPTY,
    { timeout = 5_000, headers }: { timeout?: number; headers?: PublishOptions['headers'] } = {},
  ): Promise<Msg> {
    requests += 1;
    const reply = `${prefix}.request.${requests}`;
    return new Promise((resolve, reject) => {
      const answers = subscribe(reply, {
        callback(_, message) {
          clearTimeout(timer);
          answers.unsubscribe();
          if (message.headers?.code === 503) reject(noResponders());
          else resolve(message);
        },
      });
      const timer = setTimeout(() => {
        answers.unsubscribe();
        reject(new errors.TimeoutError());
      }, timeout);
      publish(subject, payload, { reply, headers });
    });
  }

  function flush(): Promise<void> {
    if (state !== 'connected') return Promise.reject(new errors.ClosedConnectionError());
    return new Promise((resolve) => travel('up', engine.process, () => travel('down', owner, resolve)));
  }

  function tell(status: Status): void {
    for (const each of statuses) each.push(status);
  }

  /** A process hears of the loss when it runs; a paused one later. */
  function cut(): void {
    if (state !== 'connected') return;
    state = 'lost';
    life += 1;
    clock.after(0, owner, () => {
      lostAt = clock.now() - owner.startedAt;
      losses += 1;
      tell({ type: 'disconnect', server: `n${server}` });
    });
    clock.after(random.between(RECONNECT_MS.least, RECONNECT_MS.most), owner, reconnect);
  }

  function reconnect(): void {
    if (state !== 'lost') return;
    const next = pickServer();
    if (next === undefined) {
      clock.after(RECONNECT_MS.least, owner, reconnect);
      return;
    }
    server = next;
    state = 'connected';
    lostAt = undefined;
    for (const { subject } of subscriptions.all()) tellInterest(subject);
    for (const message of buffered.splice(0)) send(message);
    tell({ type: 'reconnect', server: `n${server}` });
    for (const listener of listeners) listener();
  }

  const model: ModelConnection = {
    prefix,
    owner,
    server: () => server,
    hears: (subject) => state === 'connected' && subscriptions.of(subject).length > 0,
    subscribed: () => subscriptions.all().length,
    deliver(subject, message) {
      if (state !== 'connected') return;
      for (const own of subscriptions.of(subject)) {
        travel('down', owner, () => {
          clearTimeout(own.timer);
          const respond = (data: Uint8Array) => publish(message.reply ?? '', data);
          if (!own.isClosed) own.callback(null, toMsg(message, respond));
        });
      }
    },
    cut,
    close() {
      state = 'closed';
      engine.connections.delete(model);
      for (const each of statuses) each.stop();
    },
  };
  engine.connections.add(model);
  const nc = {
    options: { inboxPrefix: prefix },
    info: { cluster: 'simulated', max_payload: 8_388_608 },
    features: { get: () => ({ ok: true, min: '' }) },
    protocol: { subscriptions: { size: () => subscriptions.all().length } },
    publish,
    subscribe,
    request,
    flush,
    _resub(subscription: ReturnType<typeof subscribe>, subject: string) {
      subscriptions.remove(subscription.own);
      subscription.own.subject = subject;
      subscriptions.add(subscription.own);
      tellInterest(subject);
    },
    status() {
      const iterator = new QueuedIteratorImpl<Status>();
      statuses.add(iterator);
      return iterator;
    },
    isClosed: () => state === 'closed',
    getServer: () => `n${server}`,
    reconnect: async () => cut(),
    close: async () => model.close(),
  };
  return {
    nc: nc as unknown as NatsConnection,
    inbox: () => createInbox(prefix),
    isConnected: () => state === 'connected',
    lostAt: () => lostAt,
    losses: () => losses,
    async reconnected(timeoutMs) {
      await new Promise<void>((resolve) => {
        listeners.add(resolve);
        setTimeout(resolve, timeoutMs);
      });
    },
    onReconnect(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    leaveServer: () => cut(),
    [Symbol.asyncDispose]: async () => model.close(),
  };
}
