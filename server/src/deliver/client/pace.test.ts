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
    for (const item of 'abcdefgh') pacer.ask(item, 'failing');
    assert.equal(admitted.join(''), 'ab');
    t.mock.timers.tick(50);
    assert.equal(admitted.join(''), 'abc');
    for (const _ of 'defgh') t.mock.timers.tick(50);
    assert.equal(admitted.join(''), 'abcdefgh');
  });

  test('serves two lines in turn while somebody stands in both', (t) => {
    const admitted: string[] = [];
    const pacer = openTestPacer(t, (item) => admitted.push(item) > 0);
    for (const item of 'abcdef') pacer.ask(item, 'failing');
    for (const item of 'XY') pacer.ask(item, 'works');
    for (let turn = 0; turn < 6; turn += 1) t.mock.timers.tick(50);
    assert.equal(admitted.join(''), 'abXcYdef');
  });

  test('serves receivers that work, unknown and failing ones in turn, however long a line is', (t) => {
    const admitted: string[] = [];
    const pacer = openTestPacer(t, (item) => admitted.push(item) > 0);
    for (const item of 'abcdefgh') pacer.ask(item, 'failing');
    for (const item of '123') pacer.ask(item, 'unknown');
    for (const item of 'XYZ') pacer.ask(item, 'works');
    for (let turn = 0; turn < 12; turn += 1) t.mock.timers.tick(50);
    assert.equal(admitted.join(''), 'abX1cY2dZ3efgh');
  });

  test('lets more in of those that cost less', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'] });
    const admitted: string[] = [];
    const admit = (item: string) => admitted.push(item) > 0;
    const pacer = openPacer({ perSecond: 20, now: () => Date.now(), admit, cost: () => 0.25 });
    for (const item of 'abcdefghijklmnop') pacer.ask(item, 'works');
    assert.equal(admitted.join(''), 'abcde', 'until less than one token is left');
    t.mock.timers.tick(50);
    assert.equal(admitted.join(''), 'abcdefghi');
  });

  test('lets no more than fifteen in at once, however many it could pay for', (t) => {
    const admitted: string[] = [];
    const pacer = openTestPacer(t, (item) => admitted.push(item) > 0, 1_000);
    for (let nth = 0; nth < 40; nth += 1) pacer.ask(String(nth), 'works');
    assert.equal(admitted.length, 15);
    t.mock.timers.tick(10);
    assert.equal(admitted.length, 30);
    t.mock.timers.tick(10);
    assert.equal(admitted.length, 40);
  });

  test('spends nothing on those who have no use for their turn', (t) => {
    const admit: Mock<(item: string) => boolean> = t.mock.fn((item: string) => item === 'x');
    const pacer = openTestPacer(t, admit);
    for (const item of 'abcdefgx') pacer.ask(item, 'failing');
    assert.equal(admit.mock.callCount(), 8);
  });

  test('makes the others wait for one that could not', (t) => {
    const admitted: string[] = [];
    const pacer = openTestPacer(t, (item) => admitted.push(item) > 0);
    for (const _ of 'abc') pacer.overdraw();
    pacer.ask('x', 'failing');
    t.mock.timers.tick(90);
    assert.deepEqual(admitted, []);
    t.mock.timers.tick(20);
    assert.deepEqual(admitted, ['x']);
  });

  test('takes those who come while it lets others in', (t) => {
    const admitted: string[] = [];
    const pacer: Pacer<string> = openTestPacer(t, (item) => {
      if (item === 'a') pacer.ask('b', 'failing');
      return admitted.push(item) > 0;
    });
    pacer.ask('a', 'failing');
    assert.deepEqual(admitted, ['a', 'b']);
  });

  test('lets nobody in once it is stopped', (t) => {
    const admitted: string[] = [];
    const pacer = openTestPacer(t, (item) => admitted.push(item) > 0);
    for (const item of 'abc') pacer.ask(item, 'failing');
    pacer.stop();
    pacer.ask('d', 'failing');
    t.mock.timers.tick(1_000);
    assert.deepEqual(admitted, ['a', 'b']);
  });
});
