import { cpSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT_DIR } from '@millrace/engines';
import { type Random, seededRandom } from './seeded-random.ts';

export type Figure = string | number | boolean | undefined | Figure[] | { [name: string]: Figure };
export type Figures = { [name: string]: Figure };
export type Findings = {
  /** Broken promises: an event lost, stored twice or answered wrongly. */
  failures: string[];
  /** Kept promises that took too long. Neither is fine, but one stall of the machine is enough for this. */
  late: string[];
  figures: Figures;
};

export type FaultRun = {
  isFull: boolean;
  seed: number;
  /** The schedule's own dice: the clients throw others, or their number of throws would change the schedule. */
  random: Random;
  /** For logs and data; gone after a green run. */
  dir: string;
  say(line: string): void;
};

export type Fault = (run: FaultRun) => Promise<Findings>;
export type FaultOptions = { name: string; fault: Fault; seed: number; isFull: boolean; isKept?: boolean };
export type Report = { fault: string; ok: boolean; failures: string[]; late: string[]; [name: string]: Figure };

/** Runs one fault and says what came of it; the logs of a red run are kept, or of any run that is asked to. */
export async function runFault(options: FaultOptions, say: (line: string) => void): Promise<Report> {
  const { name, fault, seed, isFull } = options;
  const dir = mkdtempSync(join(tmpdir(), `millrace-${name}-`));
  const startedAt = performance.now();
  const sayWithName = (line: string) => say(`${name}: ${line}`);
  sayWithName(`seed ${seed}, ${isFull ? 'full' : 'CI'} size`);
  try {
    const { failures, late, figures } = await found(fault, {
      isFull,
      seed,
      random: seededRandom(seed),
      dir,
      say: sayWithName,
    });
    const ok = failures.length === 0 && late.length === 0;
    const logs = ok && options.isKept !== true ? undefined : keepLogs(dir, `${name}-${seed}`);
    for (const failure of failures) sayWithName(`FAILED: ${failure}`);
    for (const one of late) sayWithName(`LATE: ${one}`);
    if (logs !== undefined) sayWithName(`all logs are kept in ${logs}`);
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
    return { fault: name, ok, size: isFull ? 'full' : 'ci', seed, seconds, failures, late, ...figures, logs };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A run that breaks off is a red run, with its logs kept like any other's. */
async function found(fault: Fault, run: FaultRun): Promise<Findings> {
  try {
    return await fault(run);
  } catch (error) {
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { failures: [why], late: [], figures: {} };
  }
}

/** The servers' data would be too much to keep; their logs and the oracle's are enough. */
function keepLogs(dir: string, name: string): string {
  const kept = join(ROOT_DIR, '.runs', name);
  rmSync(kept, { recursive: true, force: true });
  cpSync(dir, kept, {
    recursive: true,
    filter: (path) => /\.(log|json|conf)$/.test(path) || (statSync(path).isDirectory() && !/\/n\d$/.test(path)),
  });
  return kept;
}
