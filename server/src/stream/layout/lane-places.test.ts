import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { homesOf, tierNumber, tierPlace } from './lane-places.ts';

suite('the tiers of a lane in two places', () => {
  test('have numbers of their own, which name the stream', () => {
    for (const home of [0, 1, 63]) {
      for (const stream of [0, 1, 5, 63]) {
        for (const tier of [0, 1, 8]) {
          assert.deepEqual(tierPlace(tierNumber({ tier, stream }, home), home), { tier, stream });
        }
      }
    }
    assert.equal(tierNumber({ tier: 3, stream: 2 }, 2), 3, 'in its home a tier has the number of the retry schedule');
  });

  test('are looked for wherever one of the numbers leads, home first', () => {
    const [home] = homesOf('dst_1', [7]);
    assert.equal(homesOf('dst_1', [7, 1])[0], home);
    assert.ok(homesOf('dst_1', [7, 1]).includes(0));
    assert.deepEqual(homesOf('dst_1', [1, 1, 1]), [0]);
  });
});
