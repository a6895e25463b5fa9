/**
 * Delivers the events of one user in one request one after the other, for destinations with `order: user`. A chain is idle (empty),
 * under way (its first delivery is attempted, the others wait behind it) or breaking (the first cannot be delivered now, and the
 * request is still being taken apart: more may come behind it). The answer `2xx` moves the next to the front. A broken chain goes to
 * the lane with one write, so that it has the same order there. After a second in memory a chain that goes well goes to the lane
 * too: a request does not wait for its slowest user. A request that finds no room for the rest is not waited for: then the chain is
 * cut, and what comes later goes to the lane behind the part that is there, never to the dispatcher.
 */
import { chainOf, type Delivery } from '../../domain/delivery.ts';
import type { OutcomeEntry } from '../../domain/outcome.ts';
import type { Attempt } from '../attempt/attempt.ts';
import { isDelivered } from '../attempt/judge.ts';
import type { Webhook } from '../attempt/webhook.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import { entryBase, ownerOf } from '../settle/outcome-entry.ts';
import { isLeftToLane, type Settlement } from '../settle/settle.ts';

/** A delivery of a chain. */
export type Link = {
  delivery: Delivery;
  webhook: Webhook;
  /** It may not wait for the dispatcher any more: the chain goes to the lane when its turn comes. */
  isLate: boolean;
  /** It is done, or safe in its lane. */
  end(): void;
};

/** The chains of one request. */
export type Chains = {
  add(link: Link): void;
  /** The request is apart: no more links come. */
  close(): void;
};

export type ChainsNeeds = {
  dispatcher: Pick<Dispatcher, 'offer'>;
  settle: Settlement['settle'];
  follow: Settlement['follow'];
  /** Whether the rest of the request has more events of the same user. */
  isMoreToCome(event: Delivery['event']): boolean;
  record(entry: OutcomeEntry): Promise<void>;
  now(): number;
  /** Runs this now, or when the event loop has time for it. */
  soon(work: () => void): void;
};

/** As long as any delivery waits for its destination. */
const PATIENCE_MS = 1_000;
/** How long a broken chain waits for the rest of its request. Longer than a request waits before it goes to the lanes. */
const WHOLE_MS = 3_000;

/** `before`: the first link of the part that is in the lane, once the chain is cut. */
type Chain = { links: Link[]; startedAt: number; before?: Delivery };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openChains(needs: ChainsNeeds): Chains {
  const { dispatcher, settle, follow, record, now, soon } = needs;
  const chains = new Map<string, Chain>();
  const whole = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;

  function begin(chain: Chain): void {
    const [first] = chain.links;
    if (first === undefined) return;
    const { delivery, webhook } = first;
    if (chain.before !== undefined || first.isLate || performance.now() - chain.startedAt > PATIENCE_MS) {
      void goToLane(chain, first, undefined);
      return;
    }
    dispatcher.offer({
      delivery,
      webhook,
      finish(made) {
        if (made === undefined) soon(() => void goToLane(chain, first, made));
        else if (isDelivered(delivery, made.answers)) goOn(chain, first, made);
        else void goToLane(chain, first, made);
      },
    });
  }

  /** The next one need not wait until the record knows of this one. */
  function goOn(chain: Chain, { delivery, webhook, end }: Link, made: Attempt): void {
    chain.links.shift();
    void settle(delivery, webhook, made).then(end);
    begin(chain);
  }

  /** With all that wait behind it. If it is given up instead, or delivered after all, the next one has its turn. */
  async function goToLane(chain: Chain, first: Link, made: Attempt | undefined): Promise<void> {
    await untilWhole();
    const links = [...chain.links];
    const { before } = chain;
    const parkedAt = now();
    const [{ delivery, webhook } = first, ...behind] = links;
    const deliveries = behind.map((link) => link.delivery);
    markLast(links);
    const settled = await (before === undefined
      ? settle(delivery, webhook, made, deliveries)
      : follow(delivery, webhook, before, deliveries));
    const ended = chain.links.splice(0, isLeftToLane(settled) ? links.length : 1);
    if (settled === 'retry' || settled === 'untried') {
      chain.before ??= delivery;
      // The settlement tells of the first one that it parks.
      const untold = before === undefined ? ended.slice(1) : ended;
      await Promise.all(untold.map((link) => tellWaiting(link, parkedAt)));
    }
    for (const { end } of ended) end();
    begin(chain);
  }

  /** The holder of the lane waits a little for the rest, and has it whole then. */
  function markLast(links: readonly Link[]): void {
    for (const { delivery } of links) delete delivery.hasMore;
    const last = links.at(-1)?.delivery;
    if (last !== undefined && needs.isMoreToCome(last.event)) last.hasMore = true;
  }

  function untilWhole(): Promise<void> {
    timer ??= setTimeout(whole.resolve, WHOLE_MS).unref();
    return whole.promise;
  }

  function tellWaiting({ delivery, webhook }: Link, at: number): Promise<void> {
    const base = entryBase(delivery.event, ownerOf(delivery, webhook), at);
    return record({ ...base, kind: 'waiting', attempts: 0 });
  }

  return {
    add(link) {
      const key = `${link.webhook.destinationId} ${chainOf(link.delivery)}`;
      const chain = chains.get(key) ?? { links: [], startedAt: 0 };
      chains.set(key, chain);
      chain.links.push(link);
      if (chain.links.length > 1) return;
      chain.startedAt = performance.now();
      begin(chain);
    },
    close() {
      clearTimeout(timer);
      whole.resolve();
    },
  };
}
