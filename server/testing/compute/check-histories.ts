/**
 * `node server/testing/compute/check-histories.ts [how many] [first seed]`: random histories against the oracle, until one differs. One in
 * five has timers that run ahead of the readers, and after one in five the same kind of history is folded in two orders.
 */
import { runHistory } from './run-history.ts';
import { shuffleHistory } from './shuffle-history.ts';

const [count = 10_000, first = 1] = process.argv.slice(2).map(Number);
const sums = { events: 0, transitions: 0, values: 0, profiles: 0, changes: 0, shuffled: 0 };
const startedAt = Date.now();
for (let seed = first; seed < first + count; seed += 1) {
  try {
    const report = runHistory(seed, { isAhead: seed % 5 === 0 });
    for (const name of Object.keys(report) as (keyof typeof report)[]) sums[name] += report[name];
    if (seed % 5 !== 1) continue;
    shuffleHistory(seed);
    sums.shuffled += 1;
  } catch (error) {
    console.error(`The history of seed ${seed} differs:`, error);
    process.exit(1);
  }
}
console.log(JSON.stringify({ histories: count, differ: 0, ...sums, seconds: (Date.now() - startedAt) / 1_000 }));
