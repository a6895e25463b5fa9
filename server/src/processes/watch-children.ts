import type { Logger } from '../log.ts';
import type { Child } from './start-child.ts';

export type ChildWatchNeeds = { children: ReadonlySet<Child>; everyMs?: number | undefined; log: Logger };

const EVERY_MS = 10_000;
/** By count, not by the clock: after a stop of the whole machine the supervisor may run before its children do. */
const MOST_UNANSWERED = 6;

/**
 * Kills a child that was ready and gives no answer for about a minute, so that another one takes its seat. The health check of the machine
 * asks the supervisor, and does not notice such a child. A kill loses nothing.
 */
export function watchChildren({ children, everyMs = EVERY_MS, log }: ChildWatchNeeds): Disposable {
  const unanswered = new WeakMap<Child, number>();
  const look = async (child: Child) => {
    const answer = await child.ask('readiness');
    const count = answer === undefined ? (unanswered.get(child) ?? 0) + 1 : 0;
    unanswered.set(child, count);
    if (count !== MOST_UNANSWERED || child.state() !== 'ready' || !children.has(child)) return;
    log.error({ process: child.number, pid: child.pid }, 'child.hung');
    child.kill();
  };
  const timer = setInterval(() => {
    for (const child of children) if (child.state() === 'ready') void look(child);
  }, everyMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
