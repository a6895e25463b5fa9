import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { profileKey } from '../profiles/profile-key.ts';
import { AT, eventOf, folded, foldedInto, planOf, userOf, valuesOf } from '../../../testing/compute/plans.ts';
import { openMemoryProfiles } from '../../../testing/compute/memory-profiles.ts';
import { readBatch } from './fold-batch.ts';

const plan = planOf(
  { kind: 'audience', name: 'A', when: { event: 'E', atLeast: 2 } },
  { kind: 'trait', name: 'C', compute: 'count', event: 'E' },
);

suite('a merge', () => {
  test('counts the events of a device for its user', () => {
    const memory = folded(plan, eventOf({ anonymousId: 'a1' }), eventOf({ userId: 'u1', anonymousId: 'a1' }));
    assert.deepEqual(valuesOf(memory), { 1: true, 2: 2 });
    assert.deepEqual([...memory.profiles.keys()], [profileKey('ws_1', 'user', 'u1')]);
    const causes = memory.transitions
      .filter(({ key }) => key === userOf(memory).key)
      .map(({ cause, value }) => [cause, value]);
    assert.deepEqual(causes, [
      ['merge', 1],
      ['event', true],
      ['event', 2],
    ]);
  });

  test('of users by an alias tells nothing about the previous one', () => {
    const memory = folded(plan, eventOf({ userId: 'u1' }), eventOf({ userId: 'u1' }), eventOf({ userId: 'u2' }));
    const before = memory.transitions.length;
    foldedInto(memory, plan, [eventOf({ type: 'alias', userId: 'u2', previousId: 'u1' })]);
    assert.deepEqual(valuesOf(memory, 'u2'), { 1: true, 2: 3 });
    assert.deepEqual(valuesOf(memory, 'u1'), {});
    assert.ok(memory.transitions.slice(before).every(({ key }) => key === profileKey('ws_1', 'user', 'u2')));
    foldedInto(memory, plan, [eventOf({ userId: 'u1' })]);
    assert.deepEqual(valuesOf(memory, 'u2'), { 1: true, 2: 4 });
  });

  test('and everything else may happen within one batch', () => {
    const events = [
      eventOf({ anonymousId: 'a1' }),
      eventOf({ anonymousId: 'a1' }),
      eventOf({ userId: 'u1', anonymousId: 'a1' }),
      eventOf({ userId: 'u2', anonymousId: 'a1' }),
      eventOf({ anonymousId: 'a1' }),
      eventOf({ type: 'alias', userId: 'u3', previousId: 'u1' }),
    ];
    const whole = folded(plan, ...events);
    const single = openMemoryProfiles();
    for (const event of events) foldedInto(single, plan, [event]);
    assert.deepEqual(whole.links, single.links);
    assert.deepEqual(whole.transitions, single.transitions);
    assert.deepEqual(valuesOf(whole, 'u3'), { 1: true, 2: 3 });
    assert.equal(whole.links.get(profileKey('ws_1', 'anonymous', 'a1')), 'shared');
  });

  test('counts a repeated event once on both sides', () => {
    const event = eventOf({ anonymousId: 'a1' });
    const memory = folded(plan, event, eventOf({ userId: 'u1', anonymousId: 'a1' }), event);
    assert.equal(valuesOf(memory)['2'], 2);
  });
});

test('a batch tells what it left out', () => {
  const events = [
    eventOf({ messageId: 'same' }),
    eventOf({ messageId: 'same' }),
    eventOf({ userId: 'null' }),
    eventOf({ type: 'alias', userId: 'u1', previousId: 'u2' }),
    eventOf({ type: 'alias', userId: 'u2', previousId: 'u1' }),
  ];
  const { counts } = readBatch(events, () => plan).fold({ links: new Map(), profiles: new Map() });
  assert.deepEqual(counts, { folded: 3, duplicates: 1, ofNobody: 1, evictedIds: 0, refusedAliases: 1 });
});

test('events of a workspace without definitions are left alone', () => {
  const batch = readBatch([eventOf({ at: AT })], () => undefined);
  assert.equal(batch.keys.size, 0);
  assert.deepEqual(batch.fold({ links: new Map(), profiles: new Map() }).profiles, []);
});

test('an event of a profile that is gone, known from a link only, belongs to no profile', () => {
  const links = new Map([[profileKey('ws_1', 'anonymous', 'a1'), profileKey('ws_1', 'user', 'erased')]]);
  const { counts, profiles } = readBatch([eventOf({ anonymousId: 'a1' })], () => plan).fold({
    links,
    profiles: new Map(),
  });
  assert.deepEqual([counts.ofNobody, profiles.length], [1, 0]);
});
