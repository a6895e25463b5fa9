import { join } from 'node:path';
import { forkWithUs } from '../fork-with-us.ts';

/** As many as the processes that a greedy workspace keeps busy. */
const PROCESSES = 4;

/** Other work of the machine, until it is disposed of: `cores` processors' worth of it. */
export function startBurning(cores: number): Disposable {
  using started = new DisposableStack();
  for (let nth = 0; nth < PROCESSES; nth += 1) {
    const { child } = started.use(forkWithUs(join(import.meta.dirname, 'burn-process.ts')));
    child.send(cores / PROCESSES);
  }
  return started.move();
}
