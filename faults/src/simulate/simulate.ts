/**
 * `npm run simulate -- [--minutes N] [--seed S] [--runs N] [--faults A,B] [--plant NAME] [--json]`: simulated runs, one seed after the
 * other, until the time is over or a run breaks an invariant. Ends with one line of JSON; exit code = verdict.
 */
import { parseArgs } from 'node:util';
import { FAULTS } from './faults.ts';
import { PLANTS, type Plant } from './plants.ts';
import { simulateFor } from './simulate-for.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string' },
    runs: { type: 'string' },
    faults: { type: 'string' },
    plant: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const seed = values.seed === undefined ? Date.now() % 1_000_000_000 : Number(values.seed);
const kinds = values.faults?.split(',').filter((kind) => kind !== '');
const plant = values.plant as Plant | undefined;
const isKnown = (kinds ?? []).every((kind) => kind in FAULTS) && (plant === undefined || plant in PLANTS);
if (!Number.isSafeInteger(seed) || !(Number(values.minutes) > 0) || !isKnown) {
  console.error(
    `Usage: npm run simulate -- [--minutes N] [--seed S] [--runs N] [--faults A,B] [--plant NAME] [--json]\n` +
      `Faults: ${Object.keys(FAULTS).join(', ')}\nPlants: ${Object.keys(PLANTS).join(', ')}`,
  );
  process.exit(64);
}
const runs = values.runs === undefined ? Infinity : Number(values.runs);
const say = values.json ? () => undefined : (line: string) => console.log(line);
const result = await simulateFor({ seed, kinds, plant, runs, wallMs: Number(values.minutes) * 60_000 }, say);
console.log(JSON.stringify(result));
process.exitCode = result.ok ? 0 : 1;
