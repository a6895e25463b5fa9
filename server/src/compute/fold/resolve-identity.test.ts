import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { AcceptedEvent } from '@millrace/contract';
import { profileKey } from '../profiles/profile-key.ts';
import type { Links } from '../profiles/profile-store.ts';
import { idsOf, keysOf, openIdentities } from './resolve-identity.ts';

const user = (id: string) => profileKey('ws', 'user', id);
const device = (id: string) => profileKey('ws', 'anonymous', id);
const NAMES = new Map(
  ['u1', 'u2', 'u3', 'a1', 'a2'].flatMap(
    (id) =>
      [
        [user(id), id],
        [device(id), `device ${id}`],
      ] as const,
  ),
);
const nameOf = (key: string) => NAMES.get(key) ?? key;

/** Each call as [userId, anonymousId, previousId]; gives `profile` with the links that it made. */
function resolved(calls: (string | undefined)[][], links: Links = new Map()): string[] {
  const identities = openIdentities(links);
  return calls.map(([userId, anonymousId, previousId]) => {
    const event: unknown = { type: previousId === undefined ? 'track' : 'alias', userId, anonymousId, previousId };
    const { profile, links: made, refusal } = identities.resolve(idsOf(event as AcceptedEvent, 'ws'));
    const changes = made.map(({ from, to, merges }) => `${nameOf(from.key)}${merges ? '=>' : '->'}${nameOf(to)}`);
    return [
      profile === undefined ? 'no profile' : nameOf(profile.key),
      ...changes,
      ...(refusal === undefined ? [] : [refusal]),
    ].join(' ');
  });
}

suite('an event belongs', () => {
  test('to its user, or to its device', () => {
    assert.deepEqual(resolved([['u1'], [undefined, 'a1'], []]), ['u1', 'device a1', 'no profile']);
  });

  test('to the user with whom the device was seen first', () => {
    assert.deepEqual(
      resolved([
        [undefined, 'a1'],
        ['u1', 'a1'],
        [undefined, 'a1'],
        ['u1', 'a1'],
      ]),
      ['device a1', 'u1 device a1=>u1', 'u1', 'u1'],
    );
  });

  test('to no profile, once the device was seen with two users; they are not merged', () => {
    assert.deepEqual(
      resolved([
        ['u1', 'a1'],
        ['u2', 'a1'],
        [undefined, 'a1'],
        ['u1', 'a1'],
        ['u3', 'a1'],
      ]),
      ['u1 device a1=>u1', 'u2 device a1->shared', 'no profile', 'u1', 'u3'],
    );
  });

  test('to no profile, if its ids are placeholders', () => {
    assert.deepEqual(resolved([['null'], ['0', '-1'], ['null', 'a1'], ['u1', 'anonymous']]), [
      'no profile',
      'no profile',
      'device a1',
      'u1',
    ]);
  });

  test('by the links that are stored, along chains', () => {
    const links = new Map([
      [user('u1'), user('u2')],
      [user('u2'), user('u3')],
      [device('a1'), user('u1')],
      [device('a2'), 'shared'],
    ]);
    assert.deepEqual(resolved([['u1'], [undefined, 'a1'], [undefined, 'a2'], ['u3', 'a1']], links), [
      'u3',
      'u3',
      'no profile',
      'u3',
    ]);
  });
});

suite('an alias', () => {
  test('merges the previous user, and whoever has its id from then on', () => {
    assert.deepEqual(resolved([['u2', undefined, 'u1'], ['u1'], ['u2', undefined, 'u1']]), [
      'u2 u1=>u2 device u1=>u2',
      'u2',
      'u2',
    ]);
  });

  test('takes the devices of the previous user along', () => {
    const [, alias, later] = resolved([
      ['u1', 'a1'],
      ['u2', 'a1', 'u1'],
      [undefined, 'a1'],
    ]);
    assert.deepEqual(
      [alias, later],
      ['u2 u1=>u2 device u1=>u2', 'u2'],
      'the device is not shared: both are one user now',
    );
  });

  test('may name a device', () => {
    assert.deepEqual(
      resolved([
        [undefined, 'a1'],
        ['u1', undefined, 'a1'],
        [undefined, 'a1'],
      ]).slice(1),
      ['u1 a1=>u1 device a1=>u1', 'u1'],
    );
  });

  test('is refused when it leads back, or when the previous id is of another user already', () => {
    assert.deepEqual(
      resolved([
        ['u2', undefined, 'u1'],
        ['u1', undefined, 'u2'],
        ['u3', undefined, 'u1'],
      ]).slice(1),
      ['u2 device u2=>u2 cycle', 'u3 device u1->shared taken'],
    );
  });

  test('of an id with itself, or with a placeholder, does nothing', () => {
    assert.deepEqual(resolved([['u1', undefined, 'null']]), ['u1']);
    assert.deepEqual(resolved([['u1', undefined, 'u1']]), ['u1 device u1=>u1']);
  });
});

test('the links of every id of an event are needed', () => {
  const event = { type: 'alias', userId: 'u1', anonymousId: 'a1', previousId: 'u2' } as AcceptedEvent;
  assert.deepEqual(keysOf(idsOf(event, 'ws')), [user('u1'), device('a1'), user('u2'), device('u2')]);
});
