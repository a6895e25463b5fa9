import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { webhookBody } from '@millrace/contract';
import { readRequest } from '../domain/read-request.ts';
import { makeRequests } from './make-identifies.ts';
import { profileKey } from './profiles/profile-key.ts';
import type { SendingTransition } from './profiles/profile-store.ts';

const AT = Date.parse('2026-11-16T18:00:00.000Z');
const NOW = AT + 40;

const transition = (userId: string, change: Partial<SendingTransition> = {}): SendingTransition => ({
  workspaceId: 'ws_1',
  definition: 7,
  definitionId: 'aud_1',
  definitionKind: 'audience',
  definitionKey: 'big_spenders_30_days',
  key: profileKey('ws_1', 'user', userId),
  kind: 'user',
  id: userId,
  value: true,
  sequence: 3,
  at: AT,
  destinations: ['dst_1', 'dst_2'],
  sendAt: AT,
  erasedAt: undefined,
  ...change,
});

const made = (...transitions: SendingTransition[]) =>
  makeRequests({ batch: '7', transitions }, 'src_computed', NOW).requests;

const eventsOf = ({ envelope, body }: ReturnType<typeof made>[number]) => {
  const read = readRequest(envelope, body);
  assert.ok(read.ok, 'the request can be read');
  return read.value;
};

suite('the requests of transitions', () => {
  test('hold identify calls as receivers know them', () => {
    const [request] = made(transition('u1'));
    assert.ok(request !== undefined);
    const { events, computed, unreadable } = eventsOf(request);
    assert.deepEqual([computed, unreadable], [{ workspaceId: 'ws_1', destinations: ['dst_1', 'dst_2'] }, []]);
    const [event] = events;
    assert.ok(event !== undefined);
    assert.equal(
      webhookBody(event, 'documented'),
      JSON.stringify({
        version: 1,
        type: 'identify',
        userId: 'u1',
        traits: { big_spenders_30_days: true },
        timestamp: '2026-11-16T18:00:00.000Z',
        context: {
          personas: {
            computation_class: 'audience',
            computation_id: 'aud_1',
            computation_key: 'big_spenders_30_days',
            space_id: 'ws_1',
            sequence: 3,
          },
        },
      }),
    );
  });

  test('carry the value of a computed trait, and null for none; an anonymous profile has no userId', () => {
    const trait = { definitionKind: 'trait', definitionKey: 'orders' } as const;
    const [request] = made(
      transition('u1', { ...trait, value: 12.5 }),
      transition('u2', { ...trait, value: null }),
      transition('a1', { ...trait, kind: 'anonymous', value: ['a', 'b'] }),
    );
    assert.ok(request !== undefined);
    const events = eventsOf(request).events.map(({ userId, anonymousId, traits }) => ({ userId, anonymousId, traits }));
    assert.deepEqual(events, [
      { userId: 'u1', anonymousId: undefined, traits: { orders: 12.5 } },
      { userId: 'u2', anonymousId: undefined, traits: { orders: null } },
      { userId: undefined, anonymousId: 'a1', traits: { orders: ['a', 'b'] } },
    ]);
  });

  test('are the same for the same batch, and have other message ids for another sequence and after an erasure', () => {
    const batch = [transition('u1'), transition('u2', { value: false })];
    const ids = (requests: ReturnType<typeof made>) => requests.map(({ id, home }) => [id, home]);
    assert.deepEqual(
      ids(made(...batch)),
      ids(makeRequests({ batch: '7', transitions: batch }, 'src_computed', NOW + 60_000).requests),
    );
    const changes = [{ sequence: 3 }, { sequence: 4 }, { sequence: 3, erasedAt: AT }, { sequence: 3, erasedAt: NOW }];
    const messageIds = changes.flatMap((change) =>
      made(transition('u1', change)).flatMap((request) => eventsOf(request).events.map(({ messageId }) => messageId)),
    );
    assert.equal(new Set(messageIds).size, changes.length);
  });

  test('go to the destinations of the transition, and nowhere without any', () => {
    const requests = made(
      transition('u1'),
      transition('u2', { destinations: ['dst_new'] }),
      transition('u3', { destinations: [] }),
      transition('u4'),
    );
    const seen = requests.map((request) => {
      const { events, computed } = eventsOf(request);
      return [computed?.destinations.join(), events.map(({ userId }) => userId).join()];
    });
    assert.deepEqual(seen, [
      ['dst_1,dst_2', 'u1,u4'],
      ['dst_new', 'u2'],
    ]);
  });

  test('hold a hundred calls at most, and no more bytes than a request of a client', () => {
    const many = made(...Array.from({ length: 250 }, (_, nth) => transition(`u${nth}`)));
    assert.deepEqual(many.map((request) => eventsOf(request).events.length), [100, 100, 50]); // biome-ignore format: short
    const value = 'x'.repeat(200_000);
    const large = made(...['a', 'b', 'c'].map((id) => transition(id, { definitionKind: 'trait', value })));
    assert.deepEqual(large.map((request) => eventsOf(request).events.length), [2, 1]); // biome-ignore format: short
    const { requests, tooLarge } = makeRequests(
      { batch: '7', transitions: [transition('a', { value: 'x'.repeat(600_000) })] },
      'src_computed',
      NOW,
    );
    assert.deepEqual([requests.length, tooLarge.length], [0, 1]);
  });
});
