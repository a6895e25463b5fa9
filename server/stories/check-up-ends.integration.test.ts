/** A check-up whose process stops, sleeps or crashes in the middle of it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, suite, test } from 'node:test';
import { askForCheckUps, type CheckUpAsking, holdFirst, pathOf } from '../testing/check-ups.ts';
import { openReceiver } from '../testing/receiver.ts';
import { serverArgs } from '../testing/server-program.ts';
import { addScene, openStack, overHttp, type Stack, stackSettings } from '../testing/stack.ts';
import { staysTrueFor, until } from '../testing/until.ts';

let stack: Stack;
let asking: CheckUpAsking;
before(async () => {
  stack = await openStack();
  asking = askForCheckUps(stack);
});
after(() => stack[Symbol.asyncDispose]());

suite('a process that ends or sleeps in the middle of a check-up', () => {
  test('by a stop says so at once, and the check-up can be started again', async () => {
    const first = holdFirst();
    await using receiver = await openReceiver(first.respond);
    const { destinationId } = await addScene(stack, receiver.url);
    await asking.start(destinationId);
    await until(() => receiver.received.length === 1);
    await stack.restart();
    first.release();
    const report = await asking.read(destinationId);
    assert.equal(report.state, 'failed');
    assert.match(report.sentence ?? '', /was stopped.*start it again/);
    await until(() => stack.view().destination(destinationId) !== undefined);
    assert.equal((await asking.checkUp(destinationId)).state, 'done');
  });

  test('for longer than the lease, and then goes on, sends nothing more and changes nothing', async () => {
    const first = holdFirst();
    await using receiver = await openReceiver(first.respond);
    const { destinationId } = await addScene(stack, receiver.url);
    await asking.start(destinationId);
    await until(() => receiver.received.length === 1);
    await stack.sql('UPDATE check_ups SET leased_until = now() WHERE destination_id = $1', [destinationId]);
    first.release();
    await staysTrueFor(500, () => receiver.received.length === 1);
    const report = await asking.read(destinationId);
    assert.deepEqual([report.state, report.steps[0]?.grade], ['failed', null]);
  });

  test('by a crash leaves a check-up that reads as failed as soon as its lease is over', async () => {
    const first = holdFirst();
    await using receiver = await openReceiver(first.respond);
    const { destinationId } = await addScene(stack, receiver.url);
    await using second = await startControlProcess();
    await second.get('POST', pathOf(destinationId), {});
    await until(() => receiver.received.length === 1);
    await second.kill();
    first.release();
    assert.equal((await asking.read(destinationId)).state, 'running', 'nobody knows of the crash yet');
    assert.equal((await asking.start(destinationId)).status, 409);
    // As if the seconds of the lease had passed.
    await stack.sql('UPDATE check_ups SET leased_until = now() WHERE destination_id = $1', [destinationId]);
    const report = await asking.read(destinationId);
    assert.deepEqual([report.state, report.grade], ['failed', null]);
    assert.match(report.sentence ?? '', /The process that ran the check-up ended before it was done/);
    assert.ok(report.endedAt !== null);
    assert.equal(receiver.received.length, 1);
    assert.equal((await asking.checkUp(destinationId)).state, 'done');
  });
});

/** Another control process over the same engines, to be killed. */
async function startControlProcess() {
  const settings = {
    ...stackSettings(stack.natsUrl, stack.postgres),
    MILLRACE_ROLES: 'control',
    MILLRACE_LOG_LEVEL: 'info',
  };
  const child = spawn(process.execPath, serverArgs(), {
    env: settings,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exited = once(child, 'exit');
  const listening = Promise.withResolvers<number>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.includes('control.listening')) listening.resolve((JSON.parse(line) as { port: number }).port);
  });
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  const port = await Promise.race([listening.promise, exited.then(() => Promise.reject(new Error('it ended')))]);
  const controlUrl = () => `http://127.0.0.1:${port}`;
  return { ...overHttp({ controlUrl, collectUrl: controlUrl }), kill, [Symbol.asyncDispose]: kill };
}
