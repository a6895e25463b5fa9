/** Puts the classes that Node 22 lacks in place, before any other module is loaded. */
import { OlderAsyncDisposableStack, OlderDisposableStack } from './disposable-stacks.ts';

const scope = globalThis as Record<string, unknown>;
scope['DisposableStack'] ??= OlderDisposableStack;
scope['AsyncDisposableStack'] ??= OlderAsyncDisposableStack;
