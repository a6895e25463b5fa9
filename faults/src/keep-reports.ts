/** The last report of each fault and each planted bug, checked in: docs/inside/faults.md is printed from them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT_DIR } from '@millrace/engines';
import type { BugReport } from './planted/plant-bugs.ts';
import type { Report } from './run-fault.ts';

/** `on` is a day. `skipped`: why nothing was injected on that machine. */
export type KeptFault = {
  ok: boolean;
  size: 'ci' | 'full';
  seed: number;
  seconds: number;
  on: string;
  skipped?: string;
  broken?: string[];
};
export type KeptBug = { result: BugReport['result']; seconds: number; on: string; by: string };
export type KeptReports = { faults: Record<string, KeptFault>; planted: Record<string, KeptBug> };

export const REPORTS_FILE = 'faults/reports.json';

export function readReports(): KeptReports {
  const file = join(ROOT_DIR, REPORTS_FILE);
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<KeptReports>) : {};
  return { faults: kept.faults ?? {}, planted: kept.planted ?? {} };
}

export function keepFaults(reports: readonly Report[]): void {
  const kept = readReports();
  for (const { fault, ok, size, seed, seconds, skipped, failures, late } of reports) {
    const broken = [...failures, ...late];
    kept.faults[fault] = {
      ok,
      size: size === 'full' ? size : 'ci',
      seed: Number(seed),
      seconds: Number(seconds),
      on: today(),
      ...(typeof skipped === 'string' ? { skipped } : {}),
      ...(broken.length === 0 ? {} : { broken }),
    };
  }
  write(kept);
}

export function keepBugs(reports: readonly BugReport[]): void {
  const kept = readReports();
  for (const { bug, result, seconds, by } of reports) {
    kept.planted[bug] = { result, seconds, on: today(), by: by[0]?.split('\n')[0] ?? '' };
  }
  write(kept);
}

function write({ faults, planted }: KeptReports): void {
  writeFileSync(
    join(ROOT_DIR, REPORTS_FILE),
    `${JSON.stringify({ faults: sorted(faults), planted: sorted(planted) }, undefined, 2)}\n`,
  );
}

/** By name, so that a new report changes few lines. */
function sorted<T>(byName: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(byName).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}
