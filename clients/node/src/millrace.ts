import type { EventKind, Listener } from './calls-event.ts';
import type { CallByType, CallType } from './calls.ts';
import type { Counts } from './counts.ts';
import { type Client, openClient } from './open-client.ts';
import type { Options } from './options.ts';

/** Each function sends its call at once and resolves when the service has stored it. */
export type NowCalls = { [Type in CallType]: (call: CallByType[Type]) => Promise<void> };

/** Totals since the client was made; `waiting` are calls that have had no end so far. */
export type TotalCounts = { sent: number; failed: number; dropped: number; waiting: number };

/**
 * A client for one source. Calls are queued and sent in batches in the background; the functions that make them do no
 * network input or output and throw only when the call breaks the contract (InvalidCallError) or the client is closed.
 */
export class Millrace {
  readonly #client: Client;

  /** For serverless functions, which may be frozen once they have answered: `await millrace.now.track(…)`. */
  readonly now: NowCalls;

  constructor(writeKey: string, options: Options = {}) {
    const client = openClient(writeKey, options);
    this.#client = client;
    this.now = {
      identify: (call) => client.sendNow('identify', call),
      track: (call) => client.sendNow('track', call),
      page: (call) => client.sendNow('page', call),
      screen: (call) => client.sendNow('screen', call),
      group: (call) => client.sendNow('group', call),
      alias: (call) => client.sendNow('alias', call),
    };
  }

  /** Names a user and their traits. */
  identify(call: CallByType['identify']): void {
    this.#client.add('identify', call);
  }

  /** Records an action of the user. */
  track(call: CallByType['track']): void {
    this.#client.add('track', call);
  }

  /** Which page the user saw. */
  page(call: CallByType['page']): void {
    this.#client.add('page', call);
  }

  /** Which screen of an app the user saw. */
  screen(call: CallByType['screen']): void {
    this.#client.add('screen', call);
  }

  /** Which group the user belongs to. */
  group(call: CallByType['group']): void {
    this.#client.add('group', call);
  }

  /** That two ids are one user. */
  alias(call: CallByType['alias']): void {
    this.#client.add('alias', call);
  }

  /**
   * Sends what is queued; resolves when everything called before has been answered or given up. Each call is counted by
   * exactly one flush: the first one after it.
   */
  flush(): Promise<Counts> {
    return this.#client.flush();
  }

  /** Flushes; calls made from now on throw a ClosedError. */
  close(): Promise<Counts> {
    return this.#client.close();
  }

  on(kind: EventKind, listener: Listener): this {
    this.#client.events.on(kind, listener);
    return this;
  }

  off(kind: EventKind, listener: Listener): this {
    this.#client.events.off(kind, listener);
    return this;
  }

  get counts(): TotalCounts {
    const { totals, open } = this.#client.outbox.windows;
    return { sent: totals.sent, failed: totals.failed, dropped: totals.dropped, waiting: open };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
