import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { openRoleSet } from './open-role-set.ts';

type Step = { asked: boolean; promise: Promise<void>; resolve(): void; reject(error: Error): void };

function openStep(): Step & { begin(): Promise<void> } {
  const step = { asked: false, ...Promise.withResolvers<void>() };
  return Object.assign(step, {
    begin() {
      step.asked = true;
      return step.promise;
    },
  });
}

/** A role whose end takes as long as the test says. */
function openRole() {
  const end = openStep();
  return { end, [Symbol.asyncDispose]: end.begin };
}

async function openAll() {
  const drain = openStep();
  const [collect, deliver, control, compute] = [
    { ...openRole(), drain: drain.begin },
    openRole(),
    openRole(),
    openRole(),
  ];
  const roles = openRoleSet();
  await roles.enter('deliver', Promise.resolve(deliver));
  await roles.enter('collect', Promise.resolve(collect));
  await roles.enter('control', Promise.resolve(control));
  await roles.enter('compute', Promise.resolve(compute));
  return { roles, drain, collect, deliver, control, compute };
}

suite('the roles of a process', () => {
  test('stop at the same time, and deliver when collect has drained, whatever else takes long', async () => {
    const { roles, drain, collect, deliver, control, compute } = await openAll();
    const stopped = roles.stop();
    await turn();
    const asked = () => [collect, control, compute, deliver].map(({ end }) => end.asked);
    assert.deepEqual(asked(), [true, true, true, false]);
    drain.resolve();
    await turn();
    assert.deepEqual(asked(), [true, true, true, true]);
    for (const { end } of [collect, control, compute, deliver]) end.resolve();
    await stopped;
  });

  test('all stop when one of them fails, and its error is told', async () => {
    const { roles, drain, collect, deliver, control, compute } = await openAll();
    const stopped = roles.stop();
    control.end.reject(new Error('no database'));
    drain.resolve();
    for (const { end } of [collect, compute, deliver]) end.resolve();
    await assert.rejects(stopped, ({ errors }: AggregateError) => String(errors[0]) === 'Error: no database');
    assert.equal(deliver.end.asked, true);
  });

  test('stop in the middle of a start: one that opens later is closed at once, and the start goes no further', async () => {
    const roles = openRoleSet();
    const [collect, control] = [openRole(), openRole()];
    const opening = Promise.withResolvers<typeof control>();
    await roles.enter('collect', Promise.resolve(collect));
    let isFurther = false;
    void roles.enter('control', opening.promise).then(() => (isFurther = true));
    collect.end.resolve();
    await roles.stop();
    opening.resolve(control);
    control.end.resolve();
    await turn();
    assert.deepEqual([control.end.asked, isFurther], [true, false]);
  });
});
