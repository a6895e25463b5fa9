import type { AcceptedEvent } from '@millrace/contract';
import type { Received } from './demo-receiver.ts';
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

type State = {
  needs: DemoScreenNeeds;
  /** When events were stored, by the id of their delivery. */
  storedAt: Map<string, number>;
  early: Map<string, () => void>;
};

/** Shows each event twice: when it is stored, and when the demo receiver has it. Always in this order. */
export function openDemoScreen(needs: DemoScreenNeeds): DemoScreen {
  const state: State = { needs, storedAt: new Map(), early: new Map() };
  return {
    stored: (request) => showStored(state, request),
    delivered(delivery, url) {
      const { id } = delivery;
      const show = () => showDelivered(state, delivery, url);
      if (state.storedAt.has(id)) show();
      else waitFor(state, id, show);
    },
  };
}

function showStored(
  { needs, storedAt, early }: State,
  { stream, sequence, sourceId, ...request }: StoredRequest,
): void {
  for (const event of request.events) {
    needs.print(
      `\n${lineOf(request.storedAt, { ...event })}  stored in ${stream} as #${sequence}\n  ${JSON.stringify(event)}`,
    );
    const id = needs.deliveryIdOf(sourceId, event);
    storedAt.set(id, request.storedAt);
    early.get(id)?.();
  }
  for (const oldest of storedAt.keys()) {
    if (storedAt.size <= MAX_KNOWN) break;
    storedAt.delete(oldest);
  }
}

function waitFor({ early }: State, id: string, show: () => void): void {
  const showOnce = () => {
    clearTimeout(patience);
    early.delete(id);
    show();
  };
  const patience = setTimeout(showOnce, PATIENCE_MS);
  early.set(id, showOnce);
}

function showDelivered({ needs, storedAt }: State, { id, attempt, at, isVerified, body }: Received, url: string): void {
  if (!isVerified) {
    needs.print(`${timeOf(at)}  a POST to ${url} was refused: its signature is not that of the demo secret`);
    return;
  }
  const since = storedAt.get(id);
  const when = since === undefined ? 'stored before this start' : `${Math.max(0, at - since)} ms after it was stored`;
  const which = attempt === '1' ? '' : `, attempt ${attempt}`;
  const fields = JSON.parse(body) as Record<string, unknown>;
  needs.print(`${lineOf(at, fields)}  delivered to ${url}, signature verified, ${when}${which}`);
}

function timeOf(at: number): string {
  return new Date(at).toISOString().slice(11, 23);
}

/** The words by which people recognise an event. */
const NAMES = ['event', 'name', 'groupId', 'userId', 'User ID', 'anonymousId'];

/** For events as they are stored and for bodies as they are sent, which name the ids of an alias call differently. */
function lineOf(at: number, fields: Readonly<Record<string, unknown>>): string {
  const name = NAMES.map((each) => fields[each]).find((value) => typeof value === 'string') ?? '';
  return `${timeOf(at)}  ${String(fields['type']).padEnd(8)}  ${name.padEnd(24)}`;
}
