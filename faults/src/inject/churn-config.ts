import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlClient } from '../control-client.ts';
import { isProjected, openRecorderScene, type RecorderScene } from '../deliver/open-recorder-scene.ts';
import { joinFindings } from '../join-findings.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import type { Random } from '../seeded-random.ts';
import { waitUntil } from '../wait-until.ts';
import { finishExactly } from './stop-recorder.ts';

const WARM_UP_MS = 1_500;
const EVERY_MS = 100;
const PROJECTED_WITHIN_MS = 15_000;

/** None of them lets a delivery be skipped: in the end all of them have arrived. */
const CHANGES: readonly [object, ...object[]] = [
  { paused: true },
  { paused: false },
  { name: 'Renamed' },
  { settings: { maxConcurrency: 4 } },
  { settings: { maxPerSecond: 500 } },
];

/**
 * People change destinations all the time, pause and resume them, and make and delete others, while deliveries are under way. Nothing is
 * lost or repeated, and the record is exact.
 */
export async function churnConfig(run: FaultRun): Promise<Findings> {
  await using whole = await openRecorderScene(run);
  await whole.control.kill('SIGTERM');
  const client = whole.clientAt(await whole.control.start());
  const load = whole.scene.load({ batchesPerSecond: run.isFull ? 20 : 10, sizes: [5, 5] });
  await sleep(WARM_UP_MS);
  const refused: string[] = [];
  const changes = run.isFull ? 600 : 60;
  for (let nth = 0; nth < changes; nth += 1) {
    refused.push(...(await changeOne(whole, client, run.random)));
    if (nth % 10 === 0) refused.push(...(await comeAndGo(client, nth)));
    await sleep(EVERY_MS);
  }
  for (const id of whole.entered.destinations.keys()) refused.push(...(await patch(client, id, { paused: false })));
  await waitUntil('all changes are projected', PROJECTED_WITHIN_MS, () => isProjected(whole.store));
  const found = await finishExactly(whole, load);
  return joinFindings({ failures: refused, figures: { changes } }, found);
}

function changeOne({ entered }: RecorderScene, client: ControlClient, random: Random): Promise<string[]> {
  const [first = '', ...others] = entered.destinations.keys();
  return patch(client, random.pick([first, ...others]), random.pick(CHANGES));
}

async function patch(client: ControlClient, id: string, change: object): Promise<string[]> {
  const { status, body } = await client.ask('PATCH', `/api/v1/destinations/${id}`, change);
  return status === 200 ? [] : [`${JSON.stringify(change)} was answered ${status} ${body.code ?? ''}`];
}

/** A source without a destination, which is deleted at once. */
async function comeAndGo(client: ControlClient, nth: number): Promise<string[]> {
  const { source } = await client.createSource(`Comes and goes ${nth}`);
  const { status } = await client.ask('DELETE', `/api/v1/sources/${source.id}`);
  return status === 204 ? [] : [`the deletion of a source was answered ${status}`];
}
