import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlClient } from '../control-client.ts';
import { type DatabaseOutage, judgeDatabaseOutage } from '../judge-database-outage.ts';
import { joinFindings } from '../join-findings.ts';
import { type ControlScene, openControlScene } from '../open-control-scene.ts';
import { readSilences } from '../read-silences.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { spend, waitUntil } from '../wait-until.ts';
import { msUntilStatus, watchReadiness } from '../watch-readiness.ts';
import { REFUSED_NAME, watchRefusals } from '../watch-refusals.ts';

const WARM_UP_MS = 3_000;
const GREEN_WITHIN_MS = 30_000;
const MAX_CHANGE_MS = 1_000;

/** PostgreSQL goes away as in a power cut and comes back. Calls are collected as before; people cannot change anything meanwhile. */
export async function stopDatabase(run: FaultRun): Promise<Findings> {
  await using scene = await openControlScene(run);
  const outage = judgeDatabaseOutage(await stopOnce(run, scene));
  run.say(`PostgreSQL was gone: ${JSON.stringify(outage.figures)}`);
  const changes = await changeOften(scene, run.isFull ? 20 : 3);
  run.say(`changes afterwards: ${JSON.stringify(changes.figures)}`);
  return joinFindings(outage, changes, await scene.finish());
}

async function stopOnce(run: FaultRun, scene: ControlScene): Promise<DatabaseOutage> {
  const { database, collect, control, probe, attempts, besideAttempts } = scene;
  await using collectWatch = watchReadiness(collect.url);
  await using controlWatch = watchReadiness(control.url);
  const { source: spare } = await control.createSource('Disabled at the return');
  await probe.untilAnswered(spare, 200);
  await sleep(WARM_UP_MS);
  const quiet = await spend(run.isFull ? 30_000 : 3_000);
  const from = performance.now();
  await database.stop();
  const answers = await refusalsFor(control, run.isFull ? 60_000 : 4_000);
  const returningAt = performance.now();
  await database.start();
  const returnedAt = performance.now();
  const [disabledAt, createdAt] = await Promise.all([
    control.disableSource(spare).then(() => probe.untilAnswered(spare, 403)),
    control.createSource('Created at the return').then(({ source }) => probe.untilAnswered(source, 200)),
  ]);
  const isGreen = () => msUntilStatus(controlWatch.samples, 200, returnedAt) !== undefined;
  await waitUntil('/readyz of control is green', GREEN_WITHIN_MS, isGreen);
  return {
    quiet,
    from,
    returningAt,
    returnedAt,
    answers,
    attempts,
    besideAttempts,
    collectReadiness: collectWatch.samples,
    silences: readSilences(collect.logFile),
    controlReadiness: controlWatch.samples,
    unwanted: await countUnwanted(control),
    untilDisabledMs: Math.round(disabledAt - returnedAt),
    untilCreatedMs: Math.round(createdAt - returnedAt),
  };
}

async function refusalsFor(control: ControlClient, ms: number): Promise<DatabaseOutage['answers']> {
  await using watch = watchRefusals(control);
  await sleep(ms);
  return watch.answers;
}

async function countUnwanted(control: ControlClient): Promise<number> {
  const { body, status } = await control.ask('GET', '/api/v1/sources?limit=100');
  if (body.items === undefined) throw new Error(`the list of sources was answered ${status}`);
  return body.items.filter(({ name }) => name === REFUSED_NAME).length;
}

/** In ordinary times collect hears of every change within a second. */
async function changeOften({ control, probe }: ControlScene, rounds: number): Promise<Partial<Findings>> {
  const slowest = { createdMs: 0, revokedMs: 0, disabledMs: 0 };
  const note = (what: keyof typeof slowest, ms: number) => {
    slowest[what] = Math.max(slowest[what], Math.round(ms));
  };
  for (let round = 0; round < rounds; round += 1) {
    const [first, second] = [await control.createSource('To be revoked'), await control.createSource('To be disabled')];
    note('createdMs', (await probe.untilAnswered(second.source, 200)) - second.at);
    await probe.untilAnswered(first.source, 200);
    const revokedAt = await control.revokeKey(first.source);
    note('revokedMs', (await probe.untilAnswered(first.source, 401)) - revokedAt);
    const disabledAt = await control.disableSource(second.source);
    note('disabledMs', (await probe.untilAnswered(second.source, 403)) - disabledAt);
  }
  const late = Object.entries(slowest).filter(([, ms]) => ms > MAX_CHANGE_MS);
  return {
    late: late.map(([what, ms]) => `a change reached collect late: ${what} ${ms}`),
    figures: { changes: rounds * 3, slowestChange: slowest },
  };
}
