import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { makeDice } from '../../../testing/dice.ts';
import { estimateSize } from './estimate-size.ts';

suite('the size that a sample suggests', () => {
  test('is exact when the sample is everything', () => {
    assert.deepEqual(estimateSize({ profiles: 10, sampled: 10, members: 4 }), {
      size: 4,
      low: 4,
      high: 4,
      isExact: true,
    });
  });

  test('has an interval even when no member, or nothing but members, was found', () => {
    const none = estimateSize({ profiles: 1_000_000, sampled: 10_000, members: 0 });
    assert.deepEqual([none.size, none.low], [0, 0]);
    assert.ok(none.high > 300 && none.high < 700, String(none.high));
    const all = estimateSize({ profiles: 1_000_000, sampled: 10_000, members: 10_000 });
    assert.equal(all.size, 1_000_000);
    assert.ok(all.low > 999_300 && all.low < 999_700, String(all.low));
    assert.deepEqual(estimateSize({ profiles: 9, sampled: 0, members: 0 }), {
      size: 0,
      low: 0,
      high: 9,
      isExact: false,
    });
  });

  test('holds the true size in at least 97 of 100 samples, for every share of members', () => {
    const dice = makeDice(93);
    const profiles = 100_000;
    for (const share of [0.0005, 0.003, 0.02, 0.1, 0.5, 0.97]) {
      const members = Math.round(profiles * share);
      let right = 0;
      for (let round = 0; round < 400; round += 1) {
        let [sampled, found] = [0, 0];
        for (let nth = 0; nth < 2_000; nth += 1) {
          sampled += 1;
          // Without putting back.
          if (dice.below(profiles - nth) < members - found) found += 1;
        }
        const { low, high } = estimateSize({ profiles, sampled, members: found });
        if (low <= members && members <= high) right += 1;
      }
      assert.ok(right >= 0.97 * 400, `share ${share}: ${right} of 400`);
    }
  });
});
