import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { OlderAsyncDisposableStack, OlderDisposableStack } from './disposable-stacks.ts';

/** Each promise holds for Node's own stack and for the one that stands in for it. */
for (const [name, Stack] of [
  ['Node’s AsyncDisposableStack', AsyncDisposableStack],
  ['the AsyncDisposableStack for older Nodes', OlderAsyncDisposableStack],
] as const) {
  suite(name, () => {
    test('lets go of the last resource first, and waits for each', async () => {
      const order: string[] = [];
      const stack = new Stack();
      stack.use({
        async [Symbol.asyncDispose]() {
          order.push('first begins');
          await Promise.resolve();
          order.push('first ends');
        },
      });
      stack.use({ [Symbol.dispose]: () => void order.push('second') });
      stack.defer(() => void order.push('third'));
      stack.adopt('fourth', (value) => void order.push(value));
      await stack.disposeAsync();
      assert.deepEqual(order, ['fourth', 'third', 'second', 'first begins', 'first ends']);
      assert.equal(stack.disposed, true);
    });

    test('lets go of every resource when one fails, and throws the last error with the one before', async () => {
      const stack = new Stack();
      const order: string[] = [];
      stack.defer(() => void order.push('reached'));
      stack.defer(() => Promise.reject(new Error('second')));
      stack.defer(() => Promise.reject(new Error('first')));
      await assert.rejects(stack.disposeAsync(), (error: SuppressedError) => {
        assert.equal(error.name, 'SuppressedError');
        assert.equal((error.error as Error).message, 'second');
        assert.equal((error.suppressed as Error).message, 'first');
        return true;
      });
      assert.deepEqual(order, ['reached']);
    });

    test('gives its resources away once, and takes none afterwards', async () => {
      const order: string[] = [];
      const stack = new Stack();
      stack.defer(() => void order.push('released'));
      const moved = stack.move();
      await stack.disposeAsync();
      assert.deepEqual(order, []);
      await moved.disposeAsync();
      await moved.disposeAsync();
      assert.deepEqual(order, ['released']);
      assert.throws(() => stack.defer(() => undefined), ReferenceError);
    });

    test('takes undefined for nothing, and refuses what cannot be let go of', () => {
      const stack = new Stack();
      assert.equal(stack.use(undefined), undefined);
      assert.throws(() => stack.use({} as AsyncDisposable), TypeError);
    });
  });
}

for (const [name, Stack] of [
  ['Node’s DisposableStack', DisposableStack],
  ['the DisposableStack for older Nodes', OlderDisposableStack],
] as const) {
  test(`${name} lets go of the last resource first`, () => {
    const order: string[] = [];
    {
      using stack = new Stack();
      stack.use({ [Symbol.dispose]: () => void order.push('first') });
      stack.defer(() => void order.push('second'));
    }
    assert.deepEqual(order, ['second', 'first']);
  });
}
