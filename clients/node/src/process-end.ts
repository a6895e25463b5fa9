/** A client that wants to hear of the end of the process. */
export type EndListener = {
  /** There is still time: resolves when the client needs no more of it. */
  ending(): Promise<void>;
  /** This is the last moment: nothing can be awaited. */
  ended(): void;
};

const listeners = new Set<EndListener>();

/** One set of listeners for all clients, because Node warns of more than ten, and so that a signal is passed on once. */
export function onProcessEnd(listener: EndListener): () => void {
  if (typeof process === 'undefined' || typeof process.on !== 'function') return () => {};
  if (listeners.size === 0) {
    process.on('beforeExit', beforeExit);
    process.on('exit', exit);
    // First of all, while those that listen only once are still to be seen.
    process.prependListener('SIGTERM', sigterm);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) removeAll();
  };
}

function removeAll(): void {
  process.removeListener('beforeExit', beforeExit);
  process.removeListener('exit', exit);
  process.removeListener('SIGTERM', sigterm);
}

function beforeExit(): void {
  for (const listener of listeners) void listener.ending();
}

function exit(): void {
  for (const listener of listeners) listener.ended();
}

/** Once all clients are done, the signal is raised again with its default effect, unless the application listens itself. */
function sigterm(): void {
  const isOurs = process.listenerCount('SIGTERM') === 1;
  void Promise.all([...listeners].map((listener) => listener.ending())).then(() => {
    if (!isOurs) return;
    exit();
    removeAll();
    process.kill(process.pid, 'SIGTERM');
  });
}
