import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { type AcceptedEvent, CALL_TYPES, type CallType, type FilterRule } from '@millrace/contract';
import { routeEvent, type Routing, type SkipReason } from '../../domain/route-event.ts';
import { DESTINATION, EVENT } from '../../../testing/samples.ts';
import { ENTRIES } from './webhook.ts';

const OPEN: Routing = {
  destinations: [DESTINATION],
  isBlocked: () => false,
  accepts: (catalog) => ENTRIES.get(catalog)?.accepts,
};

function typed(type: CallType): AcceptedEvent {
  return { ...EVENT, type, groupId: 'g1', previousId: 'u0' } as AcceptedEvent;
}

/** The reason, or `delivery`, for each destination in turn. */
function verdicts(event: AcceptedEvent, routing: Partial<Routing> = {}): (SkipReason | 'delivery' | 'undecided')[] {
  return routeEvent(event, { ...OPEN, ...routing }).map((each) => (each.kind === 'skip' ? each.reason : each.kind));
}

suite('routing', () => {
  test('an event of every type becomes a delivery to a webhook', () => {
    for (const type of CALL_TYPES) assert.deepEqual(verdicts(typed(type)), ['delivery'], type);
  });

  test('an event of a source without destinations goes nowhere', () => {
    assert.deepEqual(verdicts(EVENT, { destinations: [] }), []);
  });

  test('each destination has a verdict of its own, in order', () => {
    const destinations = [
      { ...DESTINATION, id: 'dst_1' },
      { ...DESTINATION, id: 'dst_2', enabled: false },
      { ...DESTINATION, id: 'dst_3', catalog: 'Elsewhere' },
      { ...DESTINATION, id: 'dst_4', catalog: 'Later' },
      { ...DESTINATION, id: 'dst_5' },
    ];
    const event = { ...EVENT, integrations: { Elsewhere: false } };
    const routed = routeEvent(event, { ...OPEN, destinations });
    assert.deepEqual(
      routed.map(({ destination }) => destination),
      destinations,
    );
    const reasons = ['delivery', 'destination_disabled', 'integrations_map', 'undecided', 'delivery'];
    assert.deepEqual(verdicts(event, { destinations }), reasons);
  });
});

suite('an event is skipped', () => {
  test('when the destination is switched off', () => {
    assert.deepEqual(verdicts(EVENT, { destinations: [{ ...DESTINATION, enabled: false }] }), ['destination_disabled']);
  });

  test('when its integrations map leaves the destination out', () => {
    assert.deepEqual(verdicts({ ...EVENT, integrations: { All: false } }), ['integrations_map']);
  });

  test('when it is a track call whose name the schema blocks; other calls have no name to block', () => {
    const isBlocked = (name: string) => name === 'E';
    assert.deepEqual(verdicts(EVENT, { isBlocked }), ['blocked_event']);
    assert.deepEqual(verdicts({ ...EVENT, event: 'e' }, { isBlocked }), ['delivery']);
    for (const type of CALL_TYPES.filter((each) => each !== 'track')) {
      assert.deepEqual(verdicts({ ...typed(type), event: 'E' }, { isBlocked }), ['delivery'], type);
    }
  });

  test('when the destination does not take its type', () => {
    const accepts = () => ['identify'] as const;
    assert.deepEqual(verdicts(EVENT, { accepts }), ['type_not_accepted']);
    assert.deepEqual(verdicts(typed('identify'), { accepts }), ['delivery']);
  });

  test('by nobody who does not understand the destination: it waits for a newer process', () => {
    assert.deepEqual(verdicts(EVENT, { accepts: () => undefined }), ['undecided']);
    const rule = { field: 'event', op: 'sounds_like', value: 'x' } as unknown as FilterRule;
    assert.deepEqual(verdicts(EVENT, { destinations: [{ ...DESTINATION, filters: [rule] }] }), ['undecided']);
    const newer = { ...DESTINATION, catalog: '', notUnderstood: 'a newer format' };
    const event = { ...EVENT, integrations: { All: false } };
    assert.deepEqual(verdicts(event, { destinations: [newer] }), ['undecided']);
    assert.deepEqual(verdicts(EVENT, { destinations: [newer], withheld: () => 'erased' }), ['erased']);
  });

  test('when a filter rule of the destination does not hold, and that rule is told', () => {
    const rules = [
      { field: 'type', op: 'equals', value: 'track' },
      { field: 'properties.plan', op: 'equals', value: 'pro' },
    ] satisfies FilterRule[];
    const destinations = [{ ...DESTINATION, filters: rules }];
    const [routed] = routeEvent(EVENT, { ...OPEN, destinations });
    assert.deepEqual(routed, { kind: 'skip', destination: destinations[0], reason: 'filtered', rule: rules[1] });
    assert.deepEqual(verdicts({ ...EVENT, properties: { plan: 'pro' } }, { destinations }), ['delivery']);
    assert.deepEqual(verdicts(EVENT, { destinations: [{ ...DESTINATION, filters: [] }] }), ['delivery']);
  });

  test('but not when the destination is only paused: then it waits', () => {
    assert.deepEqual(verdicts(EVENT, { destinations: [{ ...DESTINATION, paused: true }] }), ['delivery']);
  });
});

suite('of several reasons', () => {
  const NEVER: FilterRule = { field: 'event', op: 'not_exists' };
  const ORDER = ['destination_disabled', 'integrations_map', 'blocked_event', 'type_not_accepted', 'filtered'] as const;
  /** Every set of reasons, as the bits of a number. */
  for (let bits = 0; bits < 2 ** ORDER.length; bits += 1) {
    const given = ORDER.filter((_, index) => (bits & (1 << index)) !== 0);
    const expected = given[0] ?? 'delivery';
    test(`${given.join(' and ') || 'none'}: ${expected} is told`, () => {
      const has = (reason: SkipReason) => given.some((each) => each === reason);
      const event = has('integrations_map') ? { ...EVENT, integrations: { Webhooks: false } } : EVENT;
      const routing = {
        destinations: [
          { ...DESTINATION, enabled: !has('destination_disabled'), filters: has('filtered') ? [NEVER] : [] },
        ],
        isBlocked: () => has('blocked_event'),
        accepts: () => (has('type_not_accepted') ? [] : (['track'] as const)),
      };
      assert.deepEqual(verdicts(event, routing), [expected]);
    });
  }
});

suite('the cases of contract/cases/selection.json', () => {
  type Case = { name: string; destination: string; input: string; expect: string };
  const file = new URL('../../../../contract/cases/selection.json', import.meta.url);
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: Case[] };
  for (const { name, destination, input, expect } of cases) {
    test(name, () => {
      const integrations = JSON.parse(input) as AcceptedEvent['integrations'] | null;
      const event = { ...EVENT, ...(integrations === null ? {} : { integrations }) } as AcceptedEvent;
      const routing = { destinations: [{ ...DESTINATION, catalog: destination }], accepts: () => CALL_TYPES };
      assert.deepEqual(verdicts(event, routing), [expect === 'true' ? 'delivery' : 'integrations_map']);
    });
  }
});
