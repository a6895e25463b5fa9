import { type Complaint, trueOnes } from '../complaints.ts';
import { once } from 'node:events';
import { join } from 'node:path';
import { forkWithUs } from '../fork-with-us.ts';
import { joinFindings } from '../join-findings.ts';
import { percentileMs } from '../measure-attempts.ts';
import { openScene, STEADY } from '../open-scene.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import type { DripOrder, DripReport } from './drip-process.ts';

const MAX_P99_MS = 200;
const MAX_SOCKET_MS = 7_000;

/** Thousands of sockets send their headers one byte at a time. The server ends them, and others do not notice. */
export async function dripHeaders(run: FaultRun): Promise<Findings> {
  await using scene = await openScene(run, { nodes: 1, batchesPerSecond: STEADY });
  const sockets = run.isFull ? 5_000 : 500;
  const startedAt = performance.now();
  const report = await dripFrom({ port: scene.collect.port, sockets, lengthMs: run.isFull ? 20_000 : 4_000 });
  const during = scene.oracle.attempts.filter((one) => one.startedAt > startedAt && one.outcome === 200);
  const p99WhileDrippingMs = percentileMs(during, 0.99) ?? Infinity;
  const found = await scene.finish({ duplicates: 'never', statuses: [200], areResetsFine: false });
  const complaints: Complaint[] = [
    [during.length === 0, 'nobody else was answered 200'],
    [report.mostOpen < sockets, `only ${report.mostOpen} of ${sockets} slow sockets were open together`],
    [report.closedOtherwise > 0, `${report.closedOtherwise} slow sockets were closed without a 408`],
  ];
  const late: Complaint[] = [
    [report.longestMs > MAX_SOCKET_MS, `a slow socket stayed open for ${report.longestMs} ms`],
    [p99WhileDrippingMs > MAX_P99_MS, `p99 of the others was ${p99WhileDrippingMs} ms`],
  ];
  const figures = { ...report, p99WhileDrippingMs };
  return joinFindings({ failures: trueOnes(complaints), late: trueOnes(late), figures }, found);
}

async function dripFrom(order: DripOrder): Promise<DripReport> {
  using dripping = forkWithUs(join(import.meta.dirname, 'drip-process.ts'));
  dripping.child.send(order);
  const [report] = await once(dripping.child, 'message');
  return report;
}
