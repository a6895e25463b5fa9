import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type Amount, type FairShares, newShare, openFairShares } from './fair-shares.ts';

const MOST = { deliveries: 1_200, bytes: 1_000_000 };

/** Takes what it gets. */
function fill(shares: FairShares, share: Amount, bytes = 1): number {
  while (shares.hasRoom(share)) shares.hold(share, bytes);
  return share.deliveries;
}

suite('a budget that sources share', () => {
  test('gives three eighths to one that is alone', () => {
    const shares = openFairShares(MOST);
    assert.equal(fill(shares, newShare()), 450);
  });

  test('always has room for a newcomer, however greedy the others are', () => {
    const shares = openFairShares(MOST);
    const got = Array.from({ length: 50 }, () => fill(shares, newShare()));
    assert.ok(got.every((held) => held > 0), got.join()); // biome-ignore format: short
    assert.ok(got.reduce((sum, held) => sum + held, 0) <= MOST.deliveries);
  });

  test('is a budget in bytes as well', () => {
    const shares = openFairShares(MOST);
    assert.equal(fill(shares, newShare(), 10_000), 38);
  });

  test('has room again for what was released, and for the others too', () => {
    const shares = openFairShares(MOST);
    const first = newShare();
    const second = newShare();
    fill(shares, first);
    const before = fill(shares, second);
    while (first.deliveries > 0) shares.release(first, 1);
    assert.deepEqual([first, shares.hasRoom(first)], [{ deliveries: 0, bytes: 0 }, true]);
    assert.ok(fill(shares, second) > before);
  });
});
