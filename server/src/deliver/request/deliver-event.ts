import { type AcceptedEvent, ruleText } from '@millrace/contract';
import { chainOf, deliveryId, newDelivery } from '../../domain/delivery.ts';
import { routeEvent, type Routed, type Routing } from '../../domain/route-event.ts';
import type { OutcomeEntry } from '../../domain/outcome.ts';
import type { Dispatcher } from '../dispatch/dispatcher.ts';
import type { PendingAttempt } from '../dispatch/line.ts';
import { entryBase, namelessBase } from '../settle/outcome-entry.ts';
import type { Settlement } from '../settle/settle.ts';
import type { Webhook, WebhookOf } from '../attempt/webhook.ts';
import type { Link } from './chains.ts';

export type EventNeeds = {
  webhookOf: WebhookOf;
  dispatcher: Pick<Dispatcher, 'offer'>;
  settle: Settlement['settle'];
  follow: Settlement['follow'];
  record(entry: OutcomeEntry): Promise<void>;
  now(): number;
};

/** To the dispatcher, which attempts it or hands it back; or to the lane at once. */
export type Way = 'offer' | 'park';

export type EventToDeliver = {
  event: AcceptedEvent;
  order: string;
  routing: Routing;
  way: Way;
  sourceId: string;
  trace: string;
  /** Counts one more delivery as begun, and returns the function to call at its end. */
  begin(): () => void;
  /** Runs this now, or when the event loop has time for it. */
  soon(work: () => void): void;
  /** Adds the delivery to those of its user in this request. */
  chain(link: Link): void;
};

/** Begins a delivery for each destination of the event, or records why the destination gets none. */
export function deliverEvent(needs: EventNeeds, taken: EventToDeliver): void {
  for (const routed of routeEvent(taken.event, taken.routing)) {
    if (routed.kind === 'skip') skip(needs, taken, routed);
    else deliver(needs, taken, needs.webhookOf(routed.destination), routed.kind === 'undecided');
  }
}

type Skip = Extract<Routed, { kind: 'skip' }>;

function skip(needs: EventNeeds, { event, sourceId, begin }: EventToDeliver, skipped: Skip): void {
  const { destination, reason, rule } = skipped;
  const { id: destinationId, workspaceId } = destination;
  const owner = {
    workspaceId,
    sourceId,
    destinationId,
    deliveryId: deliveryId(destinationId, sourceId, event.messageId),
  };
  const baseOf = reason === 'erased' || reason === 'suppressed' ? namelessBase : entryBase;
  const base = baseOf(event, owner, needs.now());
  const stopped = rule === undefined ? {} : { rule: ruleText(rule) };
  const finish = begin();
  void needs.record({ ...base, kind: 'skipped', reason, ...stopped }).then(finish);
}

function deliver(needs: EventNeeds, taken: EventToDeliver, webhook: Webhook, isUndecided: boolean): void {
  const { event, sourceId, trace, soon } = taken;
  const { dispatcher, settle, now } = needs;
  const delivery = newDelivery(deliveryId(webhook.destinationId, sourceId, event.messageId), event, now());
  delivery.order = taken.order;
  if (sourceId !== webhook.sourceId) delivery.sourceId = sourceId;
  if (trace !== '') delivery.trace = trace;
  if (isUndecided) delivery.isUndecided = true;
  const end = taken.begin();
  if (webhook.order === 'user' && chainOf(delivery) !== undefined) {
    taken.chain({ delivery, webhook, isLate: taken.way === 'park', end });
    return;
  }
  const finish: PendingAttempt['finish'] = (made) => void settle(delivery, webhook, made).then(end);
  if (taken.way === 'park') {
    finish(undefined);
    return;
  }
  // A whole line comes back at once when its gate shuts, and each delivery of it has to be written twice then.
  dispatcher.offer({
    delivery,
    webhook,
    finish: (made) => (made === undefined ? soon(() => finish(made)) : finish(made)),
  });
}
