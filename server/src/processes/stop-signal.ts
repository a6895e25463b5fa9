/** A second signal ends the process at once: nothing is lost, because nothing is acknowledged before it is stored. */
export function nextStopSignal(...more: readonly NodeJS.Signals[]): Promise<NodeJS.Signals> {
  const signals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', ...more];
  return new Promise((resolve) => {
    for (const signal of signals) process.once(signal, resolve);
  });
}
