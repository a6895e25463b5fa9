/**
 * Node 22 knows `Symbol.dispose` but neither DisposableStack nor AsyncDisposableStack, which Node 24 has. bin/millrace.cjs loads
 * this file before all others where they are missing. They keep the order and the errors of the standard: last in, first out, every
 * resource is let go of, and a second error carries the first as its `suppressed`.
 */
type Release = () => unknown;

/** Node 24's SuppressedError, as far as code can see it. */
class SuppressedFailure extends Error {
  readonly error: unknown;
  readonly suppressed: unknown;

  constructor(error: unknown, suppressed: unknown) {
    super('An error was suppressed during disposal.');
    this.name = 'SuppressedError';
    this.error = error;
    this.suppressed = suppressed;
  }
}

/** The part that both stacks share: a list of releases that can be moved and that is closed once. */
class Stack {
  protected releases: Release[] = [];
  disposed = false;

  defer(release: Release): void {
    this.mustBeOpen();
    this.releases.push(release);
  }

  adopt<Value>(value: Value, release: (value: Value) => unknown): Value {
    this.defer(() => release(value));
    return value;
  }

  move(): this {
    this.mustBeOpen();
    const moved = new (this.constructor as new () => this)();
    moved.releases = this.releases;
    this.releases = [];
    this.disposed = true;
    return moved;
  }

  protected close(): Release[] {
    const releases = this.releases.toReversed();
    this.releases = [];
    this.disposed = true;
    return releases;
  }

  protected mustBeOpen(): void {
    if (this.disposed) throw new ReferenceError('this stack is disposed already');
  }
}

class OlderDisposableStack extends Stack {
  readonly [Symbol.toStringTag] = 'DisposableStack';

  use<Value extends Disposable | null | undefined>(value: Value): Value {
    this.mustBeOpen();
    if (value === null || value === undefined) return value;
    const release = value[Symbol.dispose];
    if (typeof release !== 'function') throw new TypeError('the value has no Symbol.dispose');
    this.defer(() => release.call(value));
    return value;
  }

  dispose(): void {
    const failures = new Failures();
    for (const release of this.close()) {
      try {
        release();
      } catch (error) {
        failures.add(error);
      }
    }
    failures.throwAll();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

class OlderAsyncDisposableStack extends Stack {
  readonly [Symbol.toStringTag] = 'AsyncDisposableStack';

  use<Value extends AsyncDisposable | Disposable | null | undefined>(value: Value): Value {
    this.mustBeOpen();
    if (value === null || value === undefined) return value;
    const found = value as Partial<AsyncDisposable & Disposable>;
    const release = found[Symbol.asyncDispose] ?? found[Symbol.dispose];
    if (typeof release !== 'function') throw new TypeError('the value has no Symbol.asyncDispose');
    this.defer(() => release.call(value as AsyncDisposable & Disposable));
    return value;
  }

  async disposeAsync(): Promise<void> {
    const failures = new Failures();
    for (const release of this.close()) {
      try {
        await release();
      } catch (error) {
        failures.add(error);
      }
    }
    failures.throwAll();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.disposeAsync();
  }
}

class Failures {
  private chain: { error: unknown } | undefined;

  add(error: unknown): void {
    this.chain = { error: this.chain === undefined ? error : new SuppressedFailure(error, this.chain.error) };
  }

  throwAll(): void {
    if (this.chain !== undefined) throw this.chain.error;
  }
}

export { OlderAsyncDisposableStack, OlderDisposableStack };
