import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_BATCH_BYTES } from '@millrace/contract';
import { finishDeliveries } from '../deliver/finish-deliveries.ts';
import type { Strike } from '../deliver/judge-deliveries.ts';
import { markedCall } from '../deliver/marked-call.ts';
import type { DeliverScene } from '../deliver/open-deliver-scene.ts';
import { joinFindings } from '../join-findings.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import type { ServerProcess } from '../server-process.ts';
import { waitUntil } from '../wait-until.ts';
import { CALLS_PER_BATCH, countInFlight, loadCrashScene, ON_ITS_WAY_MS, openCrashScene } from './kill-deliver.ts';

const WARM_UP_MS = 2_000;
const DEAD_WITHIN_MS = 60_000;
/** Of collect: bodies that clients begin and do not end. */
const UPLOADS = 100;
/** Of deliver: events of this size, hundreds at once, until it has ended. */
const PADDING = 'x'.repeat(16_000);
const BURST_EVERY_MS = 1_000;

/**
 * A deliver process, and then collect, get no more memory than they have, and then more work than that is enough for: the kernel refuses
 * an allocation, and the process ends itself in the middle of its work, without a goodbye. Under a steady load it would need no more.
 */
export async function reachMemoryLimit(run: FaultRun): Promise<Findings> {
  await using scene = await openCrashScene(run);
  const load = loadCrashScene(scene, run);
  await sleep(WARM_UP_MS);
  const { strike, end: ofDeliver } = await endDeliver(scene);
  run.say(`deliver ended at its memory limit with ${ofDeliver}: ${JSON.stringify(strike)}`);
  const ofCollect = await endCollect(scene);
  run.say(`collect ended at its memory limit with ${ofCollect}`);
  const found = await finishDeliveries(scene, load, [strike]);
  return joinFindings({ figures: { ends: [ofDeliver, ofCollect] } }, found);
}

async function endDeliver(scene: DeliverScene): Promise<{ strike: Strike; end: string }> {
  const [victim] = scene.delivers;
  if (victim === undefined) throw new Error('nobody delivers');
  const from = performance.now();
  limitMemory(victim);
  const large = scene.load({
    batchesPerSecond: 0,
    sizes: [CALLS_PER_BATCH, CALLS_PER_BATCH],
    prefix: 'large',
    makeCall: (source, messageId) => ({ ...markedCall(source, messageId), context: { padding: PADDING } }),
  });
  await large.burst();
  const bursts = setInterval(() => void large.burst(), BURST_EVERY_MS);
  const end = await endOf(victim).finally(() => clearInterval(bursts));
  const endedAt = performance.now();
  const inFlight = await countInFlight(scene, endedAt);
  await victim.start();
  await large.stop();
  return { strike: { what: 'the end of deliver 1', from, until: endedAt + ON_ITS_WAY_MS, inFlight }, end };
}

async function endCollect({ collect, plan }: DeliverScene): Promise<string> {
  limitMemory(collect);
  const { writeKey } = plan.sources[0];
  const head = [
    'POST /v1/batch HTTP/1.1',
    'Host: localhost',
    `Authorization: Basic ${btoa(`${writeKey}:`)}`,
    `Content-Length: ${MAX_BATCH_BYTES}`,
  ];
  const begun = `${head.join('\r\n')}\r\n\r\n${' '.repeat(MAX_BATCH_BYTES - 1)}`;
  const uploads = Array.from({ length: UPLOADS }, () => {
    const socket = connect(collect.port, '127.0.0.1').on('error', () => undefined);
    socket.write(begun);
    return socket;
  });
  const end = await endOf(collect);
  for (const upload of uploads) upload.destroy();
  await collect.start();
  return end;
}

/** No more than it has. */
function limitMemory(victim: ServerProcess): void {
  const pid = victim.pid() ?? 0;
  execFileSync('prlimit', ['--pid', String(pid), `--data=${dataBytes(pid)}`]);
}

/** Private memory that the process can write to: the kernel holds it against the limit. */
function dataBytes(pid: number): number {
  const [, kilobytes = '0'] = /^VmData:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}

/** Resolves with the code or the signal when the process has ended by itself. */
async function endOf(victim: ServerProcess): Promise<string> {
  // A dead process that is not taken note of yet has no descriptors.
  await waitUntil('the process has ended', DEAD_WITHIN_MS, () => !existsSync(`/proc/${victim.pid()}/fd/0`));
  const { code, signal } = await victim.kill('SIGKILL');
  return String(signal ?? code);
}
