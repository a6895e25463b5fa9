import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { test } from 'node:test';
import { endProcess, isSame, mayRun, startOf } from './processes.ts';

const startChild = () => spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' });

test('a process is recognised by its pid and its start', () => {
  const { pid } = process;
  const startedAt = startOf(pid) ?? '';
  assert.notEqual(startedAt, '');
  assert.deepEqual([isSame({ pid, startedAt }), mayRun({ pid, startedAt })], [true, true]);
  assert.deepEqual([isSame({ pid, startedAt: 'before' }), mayRun({ pid, startedAt: 'before' })], [false, false]);
});

test('without a start time, a process is never the one that was noted, and may run as long as its pid is in use', async () => {
  const { pid } = process;
  assert.equal(startOf(pid, 'win32'), undefined);
  for (const startedAt of ['', 'running']) {
    assert.equal(isSame({ pid, startedAt }, 'win32'), false);
    assert.equal(mayRun({ pid, startedAt }, 'win32'), true);
  }
  const child = startChild();
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
  assert.equal(mayRun({ pid: child.pid ?? 0, startedAt: '' }, 'win32'), false);
});

test('a process without a start time gets no signal; one that is certainly the same ends', async () => {
  const child = startChild();
  const ended = once(child, 'exit');
  const pid = child.pid ?? 0;
  await endProcess({ pid, startedAt: '' }, 'SIGKILL');
  await endProcess({ pid, startedAt: 'another time' }, 'SIGKILL');
  assert.equal(mayRun({ pid, startedAt: '' }), true);
  await endProcess({ pid, startedAt: startOf(pid) ?? '' }, 'SIGTERM');
  assert.deepEqual(await ended, [null, 'SIGTERM']);
});
