import assert from 'node:assert/strict';
import { suite, test, type TestContext } from 'node:test';
import { type HashLine, type HashTurn, openHashTurns } from './hash-turns.ts';

const SETTINGS = { maxWaiting: { known: 4, fresh: 3, failing: 2 }, patienceMs: 1_000 };

/** A queue on a clock of its own, and the order in which its requests begin. */
function openScene(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  const queue = openHashTurns(SETTINGS, () => now);
  const begun: string[] = [];
  const refused: string[] = [];
  const turns = new Map<string, HashTurn>();
  const ask = (name: string, line: HashLine) =>
    queue.enter(line).then((turn) => {
      if (turn === undefined) return void refused.push(name);
      begun.push(name);
      turns.set(name, turn);
    });
  const pass = async (ms: number) => {
    now += ms;
    t.mock.timers.tick(ms);
    await settled();
  };
  const end = async (name: string) => {
    turns.get(name)?.[Symbol.dispose]();
    await settled();
  };
  return { queue, begun, refused, ask, pass, end, succeeded: (name: string) => turns.get(name)?.succeeded() };
}

/** Lets promises that are resolved run their continuations. */
async function settled(): Promise<void> {
  for (let step = 0; step < 5; step += 1) await Promise.resolve();
}

suite('the queue of password hashes', () => {
  test('runs one at a time: known browsers first, then fresh networks, then failing ones', async (t) => {
    const { begun, ask, end } = openScene(t);
    for (const name of ['fresh 1', 'failing 1', 'fresh 2', 'known 1']) void ask(name, name.split(' ')[0] as HashLine);
    await settled();
    assert.deepEqual(begun, ['fresh 1']);
    for (const name of ['fresh 1', 'known 1', 'fresh 2']) await end(name);
    assert.deepEqual(begun, ['fresh 1', 'known 1', 'fresh 2', 'failing 1']);
  });

  test('serves the newest first, and refuses the oldest of a line that is full', async (t) => {
    const { begun, refused, ask, end } = openScene(t);
    for (const name of ['0', '1', '2', '3', '4']) void ask(name, 'fresh');
    await settled();
    assert.deepEqual([begun, refused], [['0'], ['1']]);
    for (const name of ['0', '4', '3']) await end(name);
    assert.deepEqual(begun, ['0', '4', '3', '2']);
  });

  test('lets failing networks use a quarter of a core: after a wrong try their line rests', async (t) => {
    const { begun, ask, pass, end } = openScene(t);
    void ask('a', 'failing');
    void ask('b', 'failing');
    await pass(80);
    await end('a');
    assert.deepEqual(begun, ['a']);
    await pass(239);
    assert.deepEqual(begun, ['a']);
    void ask('fresh', 'fresh');
    await settled();
    assert.deepEqual(begun, ['a', 'fresh'], 'other lines do not rest');
    await pass(1);
    await end('fresh');
    assert.deepEqual(begun, ['a', 'fresh', 'b']);
  });

  test('wakes the failing line by itself when its rest is over', async (t) => {
    const { begun, ask, pass, end } = openScene(t);
    void ask('a', 'failing');
    void ask('b', 'failing');
    await pass(80);
    await end('a');
    await pass(240);
    assert.deepEqual(begun, ['a', 'b']);
  });

  test('does not let the line rest after a right password', async (t) => {
    const { begun, ask, pass, end, succeeded } = openScene(t);
    void ask('a', 'failing');
    void ask('b', 'failing');
    await pass(80);
    succeeded('a');
    await end('a');
    assert.deepEqual(begun, ['a', 'b']);
  });

  test('refuses a request that waited too long, and forgets it', async (t) => {
    const { queue, begun, refused, ask, pass, end } = openScene(t);
    void ask('a', 'fresh');
    void ask('b', 'fresh');
    await pass(1_000);
    assert.deepEqual([refused, queue.waiting()], [['b'], 0]);
    await end('a');
    assert.deepEqual(begun, ['a']);
  });
});
