import { execFile } from 'node:child_process';
import { join } from 'node:path';

/** Of the fault `deliver-burst-kill`: deliveries that came again, and how long before the kill the first of them had arrived. */
export type Killed = { extra: number; calls: number; oldestMs: number; unacknowledged: number; fromLane: number };

const PATIENCE_MS = 300_000;

/** Runs the fault of a checkout at its full size. */
export async function killInBurst(checkout: string): Promise<Killed> {
  const args = [join(checkout, 'faults/src/run.ts'), 'deliver-burst-kill', '--full'];
  const { promise, resolve } = Promise.withResolvers<string>();
  // A run that is not ok ends with an exit code, and its figures count here all the same.
  execFile(process.execPath, args, { timeout: PATIENCE_MS, maxBuffer: 64e6 }, (_, output) => resolve(output));
  const last = (await promise).trim().split('\n').at(-1) ?? '';
  const figures = JSON.parse(last) as Record<string, number>;
  return {
    extra: figures['extra'] ?? 0,
    calls: figures['calls'] ?? 0,
    oldestMs: figures['oldestMs'] ?? 0,
    unacknowledged: figures['unacknowledgedAtKill'] ?? 0,
    fromLane: figures['fromLaneAtKill'] ?? 0,
  };
}
