import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openKeyRing } from '../../secrets/seal.ts';
import { ApiProblem } from '../problems/problems.ts';
import { DEVICE_DAYS, deviceOf, makeDevice } from './device-cookie.ts';
import { type Attempt, openSignInGuard } from './guard-sign-in.ts';
import type { HashLine } from './hash-turns.ts';

/** A guard whose queue always has room; `tries` resolves with the line of each try, or why it was refused. */
function openScene() {
  let now = 0;
  const lines: HashLine[] = [];
  const enter = async (line: HashLine) => {
    lines.push(line);
    return { succeeded: () => undefined, [Symbol.dispose]: () => undefined };
  };
  const guard = openSignInGuard({ enter }, () => now);
  const attempt = async (given: Partial<Attempt>, isRight = false) => {
    try {
      using admitted = await guard.enter({
        email: 'ann@example.com',
        address: '192.0.2.1',
        deviceId: undefined,
        ...given,
      });
      if (isRight) admitted.succeeded();
      return lines.at(-1);
    } catch (error) {
      return error instanceof ApiProblem ? error.code : String(error);
    }
  };
  const tries = async (count: number, given: (nth: number) => Partial<Attempt>) => {
    const ends: (string | undefined)[] = [];
    for (let nth = 0; nth < count; nth += 1) ends.push(await attempt(given(nth)));
    return ends;
  };
  return { attempt, tries, pass: (ms: number) => void (now += ms) };
}

suite('the guard of sign-ins', () => {
  test('allows ten wrong tries a minute for one account and network, thirty for a network', async () => {
    const { attempt, tries, pass } = openScene();
    assert.equal((await tries(10, () => ({}))).includes('too_many_tries'), false);
    assert.equal(await attempt({}), 'too_many_tries');
    assert.equal(await attempt({ email: 'ANN@example.com' }), 'too_many_tries', 'however it is spelt');
    assert.equal(await attempt({ address: '192.0.2.2' }), 'fresh');
    const others = await tries(20, (nth) => ({ email: `p${nth}@example.com` }));
    assert.equal(others.filter((end) => end === 'too_many_tries').length, 2, '12 were before, 18 are left');
    pass(60_000);
    assert.equal(await attempt({}), 'failing');
  });

  test('counts an IPv6 address with its /64', async () => {
    const { attempt, tries } = openScene();
    await tries(10, (nth) => ({ address: `2001:db8::${nth.toString(16)}` }));
    assert.equal(await attempt({ address: '2001:db8::ffff:1' }), 'too_many_tries');
    assert.equal(await attempt({ address: '2001:db8:0:1::1' }), 'fresh');
  });

  test('hashes for a network behind the others after three wrong tries, for half an hour', async () => {
    const { attempt, tries, pass } = openScene();
    assert.deepEqual(await tries(4, () => ({})), ['fresh', 'fresh', 'fresh', 'failing']);
    assert.equal(await attempt({ address: '192.0.2.2' }), 'fresh');
    pass(30 * 60_000);
    assert.equal(await attempt({}), 'fresh');
  });

  test('does not count right tries: an office may sign in from one address', async () => {
    const { attempt } = openScene();
    for (let nth = 0; nth < 100; nth += 1) {
      assert.equal(await attempt({ email: `p${nth}@example.com` }, true), 'fresh');
    }
  });

  test('lets a known browser in first, whatever others have tried, with ten tries a minute of its own', async () => {
    const { attempt, tries } = openScene();
    await tries(40, () => ({}));
    const known = await tries(11, () => ({ deviceId: 'd1' }));
    assert.deepEqual(known, [...Array.from({ length: 10 }, () => 'known'), 'too_many_tries']);
    assert.equal(await attempt({ deviceId: 'd2' }), 'known');
  });
});

suite('the cookie of a known browser', () => {
  const keyRing = openKeyRing(new Map([[1, Buffer.alloc(32, 7)]]));
  const now = new Date('2026-11-17T00:00:00Z');
  const cookie = makeDevice(keyRing, 'Ann@example.com', now);

  test('is known for its account alone, and for half a year', () => {
    const later = (days: number) => new Date(now.getTime() + days * 86_400_000);
    assert.match(deviceOf(keyRing, cookie, 'ann@example.com', now) ?? '', /^[0-9a-f]{24}$/);
    assert.equal(deviceOf(keyRing, cookie, 'bob@example.com', now), undefined);
    assert.ok(deviceOf(keyRing, cookie, 'ann@example.com', later(DEVICE_DAYS)));
    assert.equal(deviceOf(keyRing, cookie, 'ann@example.com', later(DEVICE_DAYS + 1)), undefined);
  });

  test('cannot be made up', () => {
    const other = openKeyRing(new Map([[1, Buffer.alloc(32, 8)]]));
    for (const forged of [undefined, '', 'x', `${cookie.slice(0, -4)}AAAA`, 'A'.repeat(10_000)]) {
      assert.equal(deviceOf(keyRing, forged, 'ann@example.com', now), undefined);
    }
    assert.equal(deviceOf(other, cookie, 'ann@example.com', now), undefined);
  });
});
