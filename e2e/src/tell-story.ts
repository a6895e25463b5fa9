import assert from 'node:assert/strict';
import { startCollector } from './collector.ts';
import { type Exchange, type Recorder, type RecorderOptions, recordRequests } from './recorder.ts';
import { assertStoredAsSent } from './stored-as-sent.ts';
import { type CallType, type Fields, ORDERED_AT, type Story, story, WRITE_KEY } from './story.ts';

/** The result of a story: the requests the client made, and the stored event of each type. */
export type Told = { exchanges: Exchange[]; events: Story };

/** Lets one client send the calls of the story; fails when the library says that something went wrong. */
export type Teller = (recorder: Recorder, writeKey: string) => Promise<void>;

/** Lets a client tell its story to a collector of its own and holds what is stored against what was sent. */
export async function tellStory(tell: Teller, options: RecorderOptions = {}): Promise<Told> {
  await using collector = await startCollector();
  await using recorder = await recordRequests(collector.url, options);
  await tell(recorder, WRITE_KEY);
  const { exchanges } = recorder;
  const stored = await collector.storedEvents();
  assertStoredAsSent(stored, exchanges);
  const events = Object.fromEntries(stored.map(({ event }) => [String(event['type']), event])) as Story;
  return { exchanges, events };
}

/** With an unknown write key the library reports a failure to its caller, and nothing is stored. */
export async function assertUnknownKeyIsReported(tell: Teller): Promise<void> {
  await using collector = await startCollector();
  await using recorder = await recordRequests(collector.url);
  await assert.rejects(tell(recorder, 'unknown-write-key'), /ended with 1:/);
  const statuses = recorder.exchanges.map(({ status }) => status);
  assert.deepEqual([...new Set(statuses)], [401]);
  assert.deepEqual(await collector.storedEvents(), []);
}

export type Telling = {
  library: Fields;
  /** The story as this library can tell it, where that differs. */
  says?: Partial<Story>;
};

/** There is one event for each call of the story, and it says what the call said. */
export function assertTold({ events }: Told, { library, says = story }: Telling): void {
  assert.deepEqual(Object.keys(events).sort(), Object.keys(says).sort(), 'one event of each type');
  for (const [type, fields] of Object.entries(says) as [CallType, Fields][]) {
    const said = { ...fields, type, context: { ...Object(fields['context']), library } };
    assert.partialDeepStrictEqual(events[type], said, `${type} says what the story says`);
  }
  assertOrderedLongAgo(events.track);
}

/** The time on its way is added, and that is short on one machine. */
function assertOrderedLongAgo({ timestamp }: Fields): void {
  const laterMs = Date.parse(String(timestamp)) - Date.parse(ORDERED_AT);
  assert.ok(Math.abs(laterMs) < 60_000, `${String(timestamp)} is when the order was completed`);
}

/** All requests the client made, and nothing sent a second time because an answer did not please it. */
export function assertRequests({ exchanges }: Told, requests: string[]): void {
  const made = exchanges.map(({ method, path, status }) => `${method} ${path} ${status}`);
  assert.deepEqual(made, requests);
}
