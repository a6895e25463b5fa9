import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { newDelivery } from './delivery.ts';
import { readDeliveries, readLetter } from './read-deliveries.ts';
import { type FormatName, FORMATS, REQUEST_FORMATS, type Stored } from './format.ts';
import { readDestinationConfig, readSourceConfig, readUserConfig } from './read-config.ts';
import { readFloorText } from './read-floor.ts';
import { readHealth } from './read-health.ts';
import { readOutcomes } from './read-outcomes.ts';
import { readEnvelope, readRequest } from './read-request.ts';
import { readTicketNote } from './read-ticket.ts';

const AT = '2026-01-01T00:00:00.000Z';
const event = { type: 'track', event: 'e', messageId: 'm', context: {}, receivedAt: AT, timestamp: AT } as const;
const delivery = newDelivery('dlv_1', event, 1);
const envelope = { shape: 'batch', receivedAt: AT, requestId: 'r1' };
const body = { batch: [{ type: 'track', event: 'e', messageId: 'm' }] };
const entry = {
  workspaceId: 'w',
  sourceId: 's',
  destinationId: 'd',
  deliveryId: 'dlv_1',
  messageId: 'm',
  type: 'track',
  receivedAt: AT,
  at: 1,
  kind: 'waiting',
  attempts: 0,
};

/** One thing of each format: how it is read with a version, and a good one of it. */
const FORMATS_READ: Record<string, { read(text: string, version: number | undefined): Stored<unknown>; good: object }> =
  {
    request: { read: (text, v) => readRequest(JSON.stringify({ ...envelope, v }), Buffer.from(text)), good: body },
    lane: { read: (text, v) => readDeliveries(Buffer.from(text), String(v ?? '')), good: [delivery] },
    ticket: { read: (text, v) => readTicketNote(Buffer.from(withVersion(text, v))), good: { held: false, note: 'n' } },
    outcomes: { read: (text, v) => readOutcomes(Buffer.from(text), String(v ?? '')), good: { entries: [entry] } },
    letter: {
      read: (text, v) => readLetter(text, String(v ?? '')),
      good: { reason: 'expired', at: 1, destinationId: 'd', delivery },
    },
    source: {
      read: (text, v) => readSourceConfig(withVersion(text, v)),
      good: { id: 'src_1', workspaceId: 'w', name: 'n', enabled: true, writeKeyHashes: ['h'] },
    },
    destination: {
      read: (text, v) => readDestinationConfig(withVersion(text, v)),
      good: {
        id: 'd',
        workspaceId: 'w',
        sourceId: 's',
        catalog: 'Webhooks',
        name: 'n',
        enabled: true,
        settings: {},
        updatedAt: AT,
      },
    },
    user: {
      read: (text, v) => readUserConfig(withVersion(text, v)),
      good: { workspaceId: 'w', marks: [{ sourceId: '', erasedBefore: AT, suppressed: false }] },
    },
    health: {
      read: (text, v) => readHealth(withVersion(text, v)),
      good: { destinationId: 'd', workspaceId: 'w', state: 'failing', since: AT, depth: 1, bytes: 1, updatedAt: AT },
    },
    floor: { read: (text, v) => readFloorText(withVersion(text, v)), good: { createdAt: 1, through: 2 } },
  };

function withVersion(text: string, v: number | undefined): string {
  return v === undefined ? text : JSON.stringify({ ...(JSON.parse(text) as object), v });
}

/** JSON of some other shape, and the good one with a field changed, which gets further in. */
const broken = (good: object) => {
  const fields = Array.isArray(good) ? Object.keys(good[0] as object) : Object.keys(good);
  const changed = fc.tuple(fc.constantFrom(...fields), fc.jsonValue()).map(([field, value]) => {
    return JSON.stringify(
      Array.isArray(good) ? [{ ...(good[0] as object), [field]: value }] : { ...good, [field]: value },
    );
  });
  return fc.oneof(fc.string(), fc.json(), changed);
};

suite('every stored format', () => {
  for (const [format, { read, good }] of Object.entries(FORMATS_READ)) {
    const text = JSON.stringify(good);

    test(`${format}: is read without a version and with version 1`, () => {
      assert.equal(read(text, undefined).ok, true);
      assert.equal(read(text, 1).ok, true);
    });

    test(`${format}: is left for a newer process when its version is newer`, () => {
      const newer = read(text, FORMATS[format as FormatName] + 1);
      assert.equal(newer.ok, false);
      assert.equal(!newer.ok && newer.problem, 'newer');
    });

    test(`${format}: is unreadable with a version that is none`, () => {
      const odd = read(text, 0.5);
      assert.equal(!odd.ok && odd.problem, 'unreadable');
    });

    test(`${format}: no input throws`, () => {
      fc.assert(
        fc.property(broken(good), (input) => {
          const answer = read(input, undefined);
          assert.ok(answer.ok || answer.why.length > 0);
        }),
        { numRuns: 500 },
      );
    });
  }

  test('bytes that are no text throw nowhere', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string(), (bytes, version) => {
        readRequest(version, bytes);
        readRequest(JSON.stringify(envelope), bytes);
        readDeliveries(bytes, version);
        readTicketNote(bytes);
        readOutcomes(bytes, version);
        readLetter(Buffer.from(bytes).toString(), version);
      }),
    );
  });

  test('an envelope of any shape throws nowhere', () => {
    fc.assert(
      fc.property(broken(envelope), (text) => {
        readEnvelope(text);
        readRequest(text, Buffer.from(JSON.stringify(body)));
      }),
    );
  });
});

suite('the envelope of a computed request', () => {
  const read = (computed: unknown) => readEnvelope(JSON.stringify({ ...envelope, computed, v: 2 }));

  test('names a workspace and destinations, which come with the events', () => {
    const computed = { workspaceId: 'w', destinations: ['dst_1', 'dst_2'] };
    assert.equal(read(computed).ok, true);
    const calls = readRequest(JSON.stringify({ ...envelope, computed, v: 2 }), Buffer.from(JSON.stringify(body)));
    assert.deepEqual(calls.ok && calls.value.computed, computed);
    assert.equal(calls.ok && calls.value.events.length, 1);
  });

  test('is unreadable when it names none: it must not be routed like a request of a client', () => {
    for (const odd of [null, 'dst_1', [], {}, { workspaceId: 'w' }, { workspaceId: 'w', destinations: [1] }]) {
      const answer = read(odd);
      assert.equal(!answer.ok && answer.problem, 'unreadable', JSON.stringify(odd));
    }
  });

  test('has a version that processes without computed requests leave alone, and the requests of clients have not', () => {
    assert.ok(REQUEST_FORMATS.sent === 1 && REQUEST_FORMATS.computed === 2);
    assert.equal(FORMATS.request, Math.max(...Object.values(REQUEST_FORMATS)));
  });
});

suite('one poisoned part', () => {
  test('of a lane group does not hide the other deliveries', () => {
    const read = readDeliveries(Buffer.from(JSON.stringify([delivery, { v: 2 }, delivery])), '');
    assert.deepEqual(read.ok && read.value.map(({ ok }) => ok), [true, false, true]);
  });

  test('of a request does not hide the other events, and is named by its place', () => {
    const calls = [...body.batch, { type: 'purchase' }, ...body.batch, 7];
    const read = readRequest(
      JSON.stringify({ ...envelope, refused: [0] }),
      Buffer.from(JSON.stringify({ batch: calls })),
    );
    assert.deepEqual(read.ok && [read.value.places, read.value.unreadable], [[2], [1, 3]]);
  });

  test('of a batch of outcomes does not hide the other entries', () => {
    const read = readOutcomes(Buffer.from(JSON.stringify({ entries: [entry, { ...entry, kind: 'eaten' }, 3] })), '1');
    assert.deepEqual(read.ok && [read.value.entries.length, read.value.bad.length], [1, 2]);
  });

  test('of outcomes with a number that is no time is told, before the recorder writes it as one', () => {
    const retry = { ...entry, kind: 'attempt', attempt: 1, outcome: 'retry', answers: [] };
    const entries = [
      { ...retry, nextAt: 1e300 },
      { ...retry, at: 1e300 },
      { ...retry, nextAt: 1_700_000_000_000 },
    ];
    const read = readOutcomes(Buffer.from(JSON.stringify({ entries })), '1');
    assert.deepEqual(read.ok && [read.value.entries.length, read.value.bad.length], [1, 2]);
  });
});
