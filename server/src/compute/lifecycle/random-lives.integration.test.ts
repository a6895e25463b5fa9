import assert from 'node:assert/strict';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { openDice } from '../../../testing/compute/dice.ts';
import { COMPUTE_LOGIN, type LifeBed, openLifeBed, STREAMS } from '../../../testing/compute/life-bed.ts';
import { openRandomLives } from '../../../testing/compute/random-lives.ts';
import { openSteppedLives } from '../../../testing/compute/stepped-lives.ts';

const SEEDS = [3, 8];

suite('lives of definitions in the middle of traffic', () => {
  let bed: LifeBed;
  beforeEach(async () => {
    bed = await openLifeBed();
  });
  afterEach(() => bed[Symbol.asyncDispose]());

  async function noGaps(): Promise<void> {
    const sql = `SELECT 1 AS one FROM membership_changes GROUP BY definition, profile_key HAVING count(*) <> max(sequence)`;
    assert.deepEqual(await bed.sql(sql), [], 'sequences have no gaps');
  }

  for (const seed of SEEDS) {
    test(`are as if there had been no kill, whatever comes between two steps (seed ${seed})`, async () => {
      const dice = openDice(seed);
      const world = openRandomLives(bed, dice);
      let changes = 12;
      const meanwhile = async () => {
        world.traffic(dice.whole(0, 5));
        changes -= 1;
        if (changes > 0) await world.change();
      };
      world.traffic(60);
      const lives = await openSteppedLives({ bed, dice, kills: 0.05, meanwhile });
      await world.create();
      for (let n = 0; n < 3; n += 1) {
        await lives.runAll();
        world.traffic(20);
        await world.change();
      }
      do await lives.runAll();
      while (await world.attachAll());
      await lives.readAll();
      await bed.check(world.all());
      await noGaps();
    });
  }

  test('are as if there had been no kill, with two processes that lose their connections and positions', async () => {
    const dice = openDice(SEEDS[0] ?? 1);
    const world = openRandomLives(bed, dice);
    const trouble = async () => {
      const stream = dice.pick(['lifecycle', 'lifecycle', 'relay', ...STREAMS]);
      const sql = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${COMPUTE_LOGIN}'
        ORDER BY random() LIMIT 1`;
      if (dice.isWithin(0.5)) bed.server.run(sql);
      else await bed.sql('UPDATE compute_positions SET epoch = epoch + 1, holder = NULL WHERE stream = $1', [stream]);
    };
    world.traffic(200);
    await using _ = bed.start();
    await using other = bed.start();
    assert.ok(other);
    await world.create();
    for (let n = 0; n < 25; n += 1) {
      world.traffic(dice.whole(0, 30));
      await world.change();
      if (dice.isWithin(0.5)) await trouble();
      await bed.somethingRead();
    }
    await world.attachAll();
    await bed.quiet();
    await bed.check(world.all());
    await noGaps();
  });
});
