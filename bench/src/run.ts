/**
 * `npm run bench -- NAME`: ends with one line of JSON holding the figures; the exit code is the verdict. With `--beside COMMIT`,
 * `collect` and `deliver` are measured against that version of themselves instead of the bare twin. With `--before PATH`, `small`
 * measures another checkout beside this one.
 */
import { parseArgs } from 'node:util';
import { benchAudiences } from './audiences/bench-audiences.ts';
import { benchLives } from './audiences/bench-lives.ts';
import { benchBatch } from './deliver/bench-batch.ts';
import { benchClients } from './clients/bench-clients.ts';
import { benchCollect } from './collect/bench-collect.ts';
import { benchConfiguration } from './configuration/bench-configuration.ts';
import { benchDeliver } from './deliver/bench-deliver.ts';
import { benchFold } from './compute/bench-fold.ts';
import { benchProfiles } from './compute/bench-profiles.ts';
import { benchPeers } from './peers/bench-peers.ts';
import { benchProcesses } from './processes/bench-processes.ts';
import { benchProjection } from './projection/bench-projection.ts';
import { benchRecord } from './record/bench-record.ts';
import { benchScale, benchScaleCheck } from './scale/bench-scale.ts';
import { benchSizing } from './sizing/bench-sizing.ts';
import { benchSmall } from './small/bench-small.ts';
import { benchTail } from './tail/bench-tail.ts';
import { benchReplay } from './replay/bench-replay.ts';

export type Verdict = { isGood: boolean; figures: Record<string, unknown> };

export type BenchOptions = { isQuick: boolean; beside?: string | undefined; before?: string | undefined };

const BENCHES: Readonly<Record<string, (options: BenchOptions) => Promise<Verdict>>> = {
  audiences: benchAudiences,
  batch: benchBatch,
  clients: benchClients,
  collect: benchCollect,
  configuration: benchConfiguration,
  deliver: benchDeliver,
  fold: benchFold,
  lives: benchLives,
  peers: benchPeers,
  processes: benchProcesses,
  profiles: benchProfiles,
  projection: benchProjection,
  record: benchRecord,
  tail: benchTail,
  replay: benchReplay,
  scale: benchScale,
  'scale-check': benchScaleCheck,
  sizing: benchSizing,
  small: benchSmall,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean', default: false }, beside: { type: 'string' }, before: { type: 'string' } },
});
const bench = BENCHES[positionals[0] ?? ''];
if (bench === undefined) {
  const names = Object.keys(BENCHES).join(', ');
  console.error(`usage: npm run bench -- NAME [--quick] [--beside COMMIT] [--before PATH], NAME one of: ${names}`);
  process.exitCode = 2;
} else {
  const { isGood, figures } = await bench({ isQuick: values.quick, beside: values.beside, before: values.before });
  console.log(JSON.stringify(figures));
  process.exitCode = isGood ? 0 : 1;
}
