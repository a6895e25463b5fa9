import { useAllCores } from '../pin.ts';
import { type Recorders, timeStreams } from './time-streams.ts';

/** One process as before the record had slots; two as now; the same two with a tenth of the rows of plain successes. */
const RECORDERS = {
  before: { outcomeStreams: 1, processes: 1, rows: 1 },
  now: { outcomeStreams: 4, processes: 2, rows: 1 },
  sampled: { outcomeStreams: 4, processes: 2, rows: 0.1 },
} as const satisfies Record<string, Recorders>;
export const ROUNDS = 3;

type Contender = keyof typeof RECORDERS;

/** One after the other, in turns, so that other load on the machine meets all of them. */
export async function compareRecorders(deliveries: number, rounds: number) {
  useAllCores();
  const runs = { before: [], now: [], sampled: [] } as Record<Contender, Awaited<ReturnType<typeof timeStreams>>[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of Object.keys(RECORDERS) as Contender[]) {
      const run = await timeStreams(RECORDERS[name], deliveries);
      console.log(name, JSON.stringify(run));
      runs[name].push(run);
    }
  }
  const rate = (name: Contender) => median(runs[name].map(({ perSecond }) => perSecond));
  const ratioOf = (name: Contender) => Math.round((rate(name) / rate('before')) * 100) / 100;
  const isExact = Object.values(runs).every((own) => own.every(({ exact }) => exact));
  return { deliveries, runs, ratio: ratioOf('now'), ratioSampled: ratioOf('sampled'), isExact };
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
