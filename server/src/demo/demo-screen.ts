import type { AcceptedEvent } from '@millrace/contract';
import type { Received } from './demo-receiver.ts';
import { harmless } from './harmless.ts';
import type { StoredRequest } from '../stream/events/read-events.ts';

export type DemoScreen = {
  stored(request: StoredRequest): void;
  delivered(delivery: Received, url: string): void;
};

export type DemoScreenNeeds = {
  /** The `webhook-id` that an event has on its way to the demo receiver. */
  deliveryIdOf(sourceId: string, event: AcceptedEvent): string;
  print(text: string): void;
};

/** How many events it remembers: more than a screen shows. */
const MAX_KNOWN = 1_000;
/** A delivery may come in before the watcher of the streams has heard of its event. */
const PATIENCE_MS = 1_000;

/** Shows each event twice: when it is stored, and when the demo receiver has it. Always in this order. */
// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openDemoScreen({ deliveryIdOf, print }: DemoScreenNeeds): DemoScreen {
  /** When events were stored, by the id of their delivery. */
  const storedAt = new Map<string, number>();
  const early = new Map<string, () => void>();

  function waitFor(id: string, show: () => void): void {
    const showOnce = () => {
      clearTimeout(patience);
      early.delete(id);
      show();
    };
    const patience = setTimeout(showOnce, PATIENCE_MS);
    early.set(id, showOnce);
  }

  function showDelivered({ id, attempt, at, isVerified, body }: Received, url: string): void {
    if (!isVerified) {
      print(`${timeOf(at)}  a POST to ${url} was refused: its signature is not that of the demo secret`);
      return;
    }
    const since = storedAt.get(id);
    const when = since === undefined ? 'stored before this start' : `${Math.max(0, at - since)} ms after it was stored`;
    const which = attempt === '1' ? '' : `, attempt ${harmless(attempt)}`;
    const fields = JSON.parse(body) as Record<string, unknown>;
    print(`${lineOf(at, fields)}  delivered to ${url}, signature verified, ${when}${which}`);
  }

  return {
    stored({ stream, sequence, sourceId, ...request }) {
      for (const event of request.events) {
        const line = lineOf(request.storedAt, { ...event });
        print(`\n${line}  stored in ${stream} as #${sequence}\n  ${harmless(JSON.stringify(event))}`);
        const id = deliveryIdOf(sourceId, event);
        storedAt.set(id, request.storedAt);
        early.get(id)?.();
      }
      for (const oldest of storedAt.keys()) {
        if (storedAt.size <= MAX_KNOWN) break;
        storedAt.delete(oldest);
      }
    },
    delivered(delivery, url) {
      const show = () => showDelivered(delivery, url);
      if (storedAt.has(delivery.id)) show();
      else waitFor(delivery.id, show);
    },
  };
}

function timeOf(at: number): string {
  return new Date(at).toISOString().slice(11, 23);
}

/** The words by which people recognise an event. */
const NAMES = ['event', 'name', 'groupId', 'userId', 'User ID', 'anonymousId'];

/** For events as they are stored and for bodies as they are sent, which name the ids of an alias call differently. */
function lineOf(at: number, fields: Readonly<Record<string, unknown>>): string {
  const name = harmless(NAMES.map((each) => fields[each]).find((value) => typeof value === 'string') ?? '');
  return `${timeOf(at)}  ${harmless(String(fields['type'])).padEnd(8)}  ${name.padEnd(24)}`;
}
