/** The calls of transitions, as requests of the computed source. Pure: the same batch always gives the same requests. */
import { hash } from 'node:crypto';
import { type Envelope, MAX_BATCH_BYTES } from '@millrace/contract';
import { REQUEST_FORMATS } from '../domain/format.ts';
import type { RequestToAppend } from '../stream/events/append-request.ts';
import { messageIdOf } from './profiles/message-id.ts';
import type { SendingBatch, SendingTransition } from './profiles/profile-store.ts';

export type MadeRequests = {
  requests: RequestToAppend[];
  /** Their value is too large for any request. */
  tooLarge: SendingTransition[];
};

/** Small, so that deliver takes several apart at a time, and a batch of transitions still pays for few syncs of the disk. */
const MOST_CALLS = 100;
const MOST_BYTES = MAX_BATCH_BYTES;

/** Requests of one workspace and its computed source; transitions for the same destinations go together, in their order. */
export function makeRequests({ batch, transitions }: SendingBatch, sourceId: string, now: number): MadeRequests {
  const groups = new Map<string, Group>();
  const tooLarge: SendingTransition[] = [];
  for (const transition of transitions) {
    const { destinations } = transition;
    if (destinations.length === 0) continue;
    const call = identifyOf(transition);
    const { messageId } = call;
    const text = JSON.stringify(call);
    if (Buffer.byteLength(text) > MOST_BYTES) tooLarge.push(transition);
    else addTo(groups, { destinations, workspaceId: transition.workspaceId }, { messageId, text });
  }
  const requests = [...groups.values()].flatMap(({ address, chunks }) =>
    chunks.map((chunk) => makeRequest(chunk, { ...address, batch, sourceId, now })),
  );
  return { requests, tooLarge };
}

type Address = { destinations: readonly string[]; workspaceId: string };
type Call = { messageId: string; text: string };
type Chunk = { calls: Call[]; bytes: number };
type Group = { address: Address; chunks: Chunk[] };

function addTo(groups: Map<string, Group>, address: Address, call: Call): void {
  const key = address.destinations.join(' ');
  const group = groups.get(key) ?? { address, chunks: [] };
  groups.set(key, group);
  const bytes = Buffer.byteLength(call.text);
  const last = group.chunks.at(-1);
  if (last !== undefined && last.calls.length < MOST_CALLS && last.bytes + bytes <= MOST_BYTES) {
    last.calls.push(call);
    last.bytes += bytes;
  } else group.chunks.push({ calls: [call], bytes });
}

type RequestAddress = Address & { batch: string; sourceId: string; now: number };

function makeRequest({ calls }: Chunk, address: RequestAddress): RequestToAppend {
  const { batch, sourceId, destinations, workspaceId, now } = address;
  // The batch and the destinations count: the same transitions may go to others later, when those are attached to the definition, and
  // to the same ones again, when someone asks for that.
  const facts = [batch, sourceId, destinations, calls.map(({ messageId }) => messageId)];
  const id = hash('sha256', JSON.stringify(facts)).slice(0, 32);
  const envelope: Envelope = {
    shape: 'batch',
    receivedAt: new Date(now).toISOString(),
    requestId: id,
    calls: calls.length,
    computed: { workspaceId, destinations: [...destinations] },
    v: REQUEST_FORMATS.computed,
  };
  return {
    sourceId,
    id,
    home: Number.parseInt(id.slice(0, 8), 16),
    envelope: JSON.stringify(envelope),
    body: Buffer.from(`{"batch":[${calls.map(({ text }) => text).join()}]}`),
  };
}

/** With the fields that Segment's Personas puts into `context`, and the sequence: a receiver keeps the highest. */
export function identifyOf(transition: SendingTransition) {
  const { definitionId, definitionKind, definitionKey, kind, id, value, sequence, at, workspaceId } = transition;
  return {
    type: 'identify',
    messageId: messageIdOf(transition),
    ...(kind === 'user' ? { userId: id } : { anonymousId: id }),
    traits: { [definitionKey]: value },
    timestamp: new Date(at).toISOString(),
    context: {
      personas: {
        computation_class: definitionKind,
        computation_id: definitionId,
        computation_key: definitionKey,
        space_id: workspaceId,
        sequence,
      },
    },
  };
}
