import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';
import { joinFindings } from './join-findings.ts';
import { type Fault, runFault } from './run-fault.ts';

const reportOf = async (fault: Fault) => {
  const said: string[] = [];
  const run = { name: 'made-up', fault, seed: process.pid, isFull: false };
  const { logs, ...report } = await runFault(run, (line) => void said.push(line));
  if (typeof logs === 'string') rmSync(logs, { recursive: true });
  return { report, said: said.join('\n') };
};

test('a run that was only late is not ok, and says so apart from failures', async () => {
  const { report, said } = await reportOf(async () => ({ failures: [], late: ['p99 was 9 ms'], figures: {} }));
  assert.deepEqual([report.ok, report.failures, report.late], [false, [], ['p99 was 9 ms']]);
  assert.match(said, /made-up: LATE: p99 was 9 ms/);
});

test('a run that breaks off has failed', async () => {
  const { report } = await reportOf(() => Promise.reject(new Error('no server')));
  assert.equal(report.ok, false);
  assert.match(report.failures.join(), /no server/);
});

test('a run without complaints is ok', async () => {
  const { report } = await reportOf(async () => ({ failures: [], late: [], figures: { lost: 0 } }));
  assert.deepEqual([report.ok, report['lost']], [true, 0]);
});

test('findings that are joined keep every complaint of either kind', () => {
  const joined = joinFindings(
    { late: ['a'], figures: { kills: 1 } },
    { failures: ['b'], late: ['c'] },
    { figures: {} },
  );
  assert.deepEqual(joined, { failures: ['b'], late: ['a', 'c'], figures: { kills: 1 } });
});
