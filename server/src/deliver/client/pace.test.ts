import assert from 'node:assert/strict';
import { type Mock, suite, test, type TestContext } from 'node:test';
import { openPacer, type Pacer } from './pace.ts';

function openTestPacer(t: TestContext, admit: (item: string) => boolean, perSecond = 20): Pacer<string> {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  return openPacer({ perSecond, now: () => Date.now(), admit });
}

suite('the pacer', () => {
  test('lets a few in at once and the rest in order, at its pace', (t) => {
    const admitted: string[] = [];
    const pacer = openTestPacer(t, (item) => admitted.push(item) > 0);
    for (const item of 'abcdefgh') pacer.ask(item, false);
    assert.equal(admitted.join(''), 'ab');
    t.mock.timers.tick(50);
    assert.equal(admitted.join(''), 'abc');
    for (const _ of 'defgh') t.mock.timers.tick(50);
    assert.equal(admitted.join(''), 'abcdefgh');
  });

  test('serves two lines in turn while somebody stands in both', (t) => {
    const admitted: string[] = [];
    const pacer = openTestPacer(t, (item) => admitted.push(item) > 0);
    for (const item of 'abcdef') pacer.ask(item, false);
    for (const item of 'XY') pacer.ask(item, true);
    for (let turn = 0; turn < 6; turn += 1) t.mock.timers.tick(50);
    assert.equal(admitted.join(''), 'abXcYdef');
  });

  test('spends nothing on those who have no use for their turn', (t) => {
    const admit: Mock<(item: string) => boolean> = t.mock.fn((item: string) => item === 'x');
    const pacer = openTestPacer(t, admit);
    for (const item of 'abcdefgx') pacer.ask(item, false);
    assert.equal(admit.mock.callCount(), 8);
  });

  test('makes the others wait for one that could not', (t) => {
    const admitted: string[] = [];
    const pacer = openTestPacer(t, (item) => admitted.push(item) > 0);
    for (const _ of 'abc') pacer.overdraw();
    pacer.ask('x', false);
    t.mock.timers.tick(90);
    assert.deepEqual(admitted, []);
    t.mock.timers.tick(20);
    assert.deepEqual(admitted, ['x']);
  });

  test('takes those who come while it lets others in', (t) => {
    const admitted: string[] = [];
    const pacer: Pacer<string> = openTestPacer(t, (item) => {
      if (item === 'a') pacer.ask('b', false);
      return admitted.push(item) > 0;
    });
    pacer.ask('a', false);
    assert.deepEqual(admitted, ['a', 'b']);
  });

  test('lets nobody in once it is stopped', (t) => {
    const admitted: string[] = [];
    const pacer = openTestPacer(t, (item) => admitted.push(item) > 0);
    for (const item of 'abc') pacer.ask(item, false);
    pacer.stop();
    pacer.ask('d', false);
    t.mock.timers.tick(1_000);
    assert.deepEqual(admitted, ['a', 'b']);
  });
});
