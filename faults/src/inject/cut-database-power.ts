import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, connectNats } from '../../../server/src/stream/nats/connect-nats.ts';
import { readOutcomes } from '../deliver/ask-engine.ts';
import { openRecorderScene } from '../deliver/open-recorder-scene.ts';
import { joinFindings } from '../join-findings.ts';
import { CUT_MODES, type Losses, openPowerDisk } from '../power/open-power-disk.ts';
import { sumLosses } from '../power/sum-losses.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { SILENT } from '../sources.ts';
import { waitUntil } from '../wait-until.ts';
import { finishExactly } from './stop-recorder.ts';

const QUIET_MS = [500, 2_000] as const;
const RECORDED_WITHIN_MS = 60_000;
const LOAD = { batchesPerSecond: 20, sizes: [5, 5] } as const;

/** The power of PostgreSQL fails while the recorder writes, again and again. The record equals the receivers afterwards. */
export async function cutDatabasePower(run: FaultRun, count: number): Promise<Findings> {
  // PostgreSQL runs as a user of its own, which may not read this folder but has to pass through it.
  chmodSync(run.dir, 0o711);
  await using disk = await openPowerDisk(join(run.dir, 'disk-of-postgres'));
  const place = { dir: disk.dir, options: '-c fsync=on' };
  await using whole = await openRecorderScene(run, { database: place });
  // The folder was copied there a moment ago.
  await disk.sync();
  const { database } = whole;
  await using nats = await connectNats({ url: whole.scene.cluster.adminUrl, name: 'faults', log: SILENT });
  const load = whole.scene.load(LOAD);
  const lost: Losses[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    await recorderWrites(nats);
    await sleep(run.random.between(...QUIET_MS));
    const mode = run.random.pick(CUT_MODES);
    await database.kill();
    const losses = await disk.cut(run.seed + nth, mode);
    await disk.restore();
    await database.start();
    run.say(`PostgreSQL: cut ${nth + 1} of ${count} (${mode}): ${JSON.stringify(losses)}`);
    lost.push(losses);
  }
  const found = await finishExactly(whole, load);
  return joinFindings({ figures: { cuts: count } }, found, { figures: { unsynced: sumLosses(lost) } });
}

/** After a cut it waits before it connects again, and a database without writes would lose none in the next cut. */
async function recorderWrites(nats: Connection): Promise<void> {
  const next = (await readOutcomes(nats)).last_seq + 1;
  const isPast = async () => (await readOutcomes(nats)).first_seq > next;
  await waitUntil('the recorder writes', RECORDED_WITHIN_MS, isPast);
}
