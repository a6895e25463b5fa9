import assert from 'node:assert/strict';
import type { Exchange } from './recorder.ts';
import { type SentCall, sentCalls } from './sent-calls.ts';
import { type Fields, WRITE_KEY } from './story.ts';

/** One line of what the collector stored. */
export type StoredEvent = { stream: string; sequence: number; sourceId: string; event: Fields };

const IDS = ['userId', 'anonymousId', 'groupId', 'previousId'];
/** The collector has the time from NATS, and knows it as well as half of a round trip lets it. */
const CLOCK_SLACK_MS = 2_000;
const ISO_UTC_MS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Each call was stored once, with every field as sent, nothing added but what the collector promises to add. */
export function assertStoredAsSent(stored: StoredEvent[], exchanges: Exchange[]): void {
  const sent = new Map<unknown, SentCall[]>();
  for (const call of sentCalls(exchanges)) {
    const id = call.call['messageId'];
    sent.set(id, [...(sent.get(id) ?? []), call]);
  }
  const storedIds = stored.map(({ event }) => String(event['messageId']));
  assert.deepEqual(storedIds.sort(), [...sent.keys()].map(String).sort(), 'the calls stored are the calls sent');
  for (const line of stored) {
    const { event } = line;
    const [first] = sent.get(event['messageId']) ?? [];
    if (first === undefined) throw new Error('every stored id was sent: compared above');
    assert.doesNotMatch(JSON.stringify(line), new RegExp(WRITE_KEY), 'the write key goes no further than the door');
    assert.match(line.sourceId, /./);
    assertReceivedDuring(event['receivedAt'], first.exchange);
    assert.deepEqual(event, eventOf(first, String(event['receivedAt'])));
  }
}

function assertReceivedDuring(receivedAt: unknown, { startedAt, answeredAt }: Exchange): void {
  assert.match(String(receivedAt), ISO_UTC_MS);
  const receivedMs = Date.parse(String(receivedAt));
  const isThere = receivedMs >= startedAt - CLOCK_SLACK_MS && receivedMs <= answeredAt + CLOCK_SLACK_MS;
  assert.ok(isThere, `${String(receivedAt)} is when the request was there`);
}

/** The contract a second time, in the words of this suite: the event that a sent call becomes when it is stored. */
function eventOf({ call, shared, exchange }: SentCall, receivedAt: string): Fields {
  const { writeKey: _, timestamp, originalTimestamp, sentAt, ...fields } = withoutUnknowns(call);
  const happenedAt = timestamp ?? originalTimestamp;
  const sentMs = Date.parse(String(sentAt ?? shared['sentAt']));
  const integrations = merged(shared['integrations'], call['integrations']);
  return {
    ...fields,
    context: contextOf(merged(shared['context'], call['context']), exchange),
    ...(integrations === undefined ? {} : { integrations }),
    originalTimestamp: originalTimestamp ?? timestamp,
    ...timesOf(Date.parse(String(happenedAt)), sentMs, receivedAt),
    receivedAt,
  };
}

/** Only a client that says when it sent can have its clock corrected; NaN where it does not. */
function timesOf(happenedMs: number, sentMs: number, receivedAt: string): Fields {
  if (Number.isNaN(sentMs)) return { timestamp: new Date(happenedMs).toISOString() };
  const timeOnItsWayMs = Date.parse(receivedAt) - sentMs;
  return { sentAt: new Date(sentMs).toISOString(), timestamp: new Date(happenedMs + timeOnItsWayMs).toISOString() };
}

/** Libraries write null for an unknown value, some an empty text for an id. */
function withoutUnknowns(call: Fields): Fields {
  const isKnown = ([field, value]: [string, unknown]) => value !== null && !(IDS.includes(field) && value === '');
  return Object.fromEntries(Object.entries(call).filter(isKnown));
}

function merged(shared: unknown, own: unknown): Fields | undefined {
  if (shared === undefined && own === undefined) return undefined;
  return { ...Object(shared), ...Object(own) };
}

/** A browser cannot know its address, so it is taken from the connection unless the page gave one. */
function contextOf(context: Fields = {}, { headers }: Exchange): Fields {
  return headers.origin === undefined ? context : { ip: '127.0.0.1', ...context };
}
