import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { joinFindings } from '../join-findings.ts';
import { openScene, type Scene, STEADY } from '../open-scene.ts';
import type { FaultRun, Findings } from '../run-fault.ts';

const USER = 'millrace';
const QUIET_MS = 1_500;

/** The password of collect is changed on the server, and changed back. Clients hear 503 meanwhile, and are served again without a restart. */
export async function revokeCredentials(run: FaultRun): Promise<Findings> {
  await using scene = await openScene(run, { nodes: 1, batchesPerSecond: STEADY, natsUser: USER });
  await sleep(QUIET_MS);
  const from = performance.now();
  await setPassword(scene, 'revoked');
  await sleep(run.isFull ? 30_000 : 4_000);
  const refused = scene.oracle.attempts.filter(({ startedAt, outcome }) => startedAt > from && outcome === 503).length;
  const served = scene.oracle.nextStored(performance.now());
  const returnedAt = performance.now();
  await setPassword(scene, USER);
  const servedAfterMs = Math.round((await served).endedAt - returnedAt);
  scene.disturb({ from, to: performance.now() });
  await sleep(QUIET_MS);
  const found = await scene.finish({ duplicates: 'across_streams', statuses: [200, 503], areResetsFine: false });
  const failures = refused === 0 ? ['no client was answered 503: the password was not revoked'] : [];
  return joinFindings({ failures, figures: { refused, servedAfterMs } }, found);
}

/** In the configuration of the servers, which read it anew. */
async function setPassword({ cluster }: Scene, password: string): Promise<void> {
  for (const { name, kill } of cluster.nodes) {
    const file = join(cluster.dir, `${name}.conf`);
    const before = readFileSync(file, 'utf8');
    writeFileSync(
      file,
      before.replace(new RegExp(`user: ${USER}, password: \\w+`), `user: ${USER}, password: ${password}`),
    );
    await kill('SIGHUP');
  }
}
