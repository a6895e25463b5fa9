import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { fixedSleeps } from './check-sleeps.ts';

const PROMISED = "import { setTimeout as sleep } from 'node:timers/promises';\n";

suite('a fixed sleep is found', () => {
  for (const [name, code] of [
    ['of a number', 'await sleep(300);'],
    ['of a constant', 'const PAUSE_MS = 2 * 1_000;\nawait sleep(PAUSE_MS);'],
    ['that polls', 'while (!isTrue()) await sleep(10);'],
    ['with a value', 'await sleep(1_000, undefined, { signal });'],
    ['by a promise of its own', 'await new Promise((resolve) => setTimeout(resolve, 50));'],
  ] as const) {
    test(name, () => {
      assert.equal(fixedSleeps(PROMISED + code).length, 1);
    });
  }

  test('under the name of the module, and with its line', () => {
    const code = "import { setTimeout } from 'node:timers/promises';\n\nawait setTimeout(50);\n";
    assert.deepEqual(fixedSleeps(code), [{ line: 3, text: 'setTimeout(50)' }]);
  });
});

suite('no fixed sleep is', () => {
  for (const [name, code] of [
    ['a random time', 'await sleep(randomInt(20, 250));'],
    ['a time that was told', 'await sleep(seconds * 1_000);'],
    ['a deadline', 'const isDone = await Promise.race([done, sleep(3_000)]);'],
    ['the slowness of a receiver', 'setTimeout(() => response.end(), 50);'],
    ['one in a comment', '// await sleep(300);\n/** Not sleep(300). */'],
  ] as const) {
    test(name, () => {
      assert.deepEqual(fixedSleeps(PROMISED + code), []);
    });
  }
});
