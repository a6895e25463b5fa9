import cluster, { type Worker } from 'node:cluster';
import type { Answer, Told, EndOrder, Order, Asked } from './talk.ts';

export type ChildPlan = { number: number; roles: readonly string[] };
export type ChildEnd = { code: number | null; signal: string | null; error?: string; readyMs: number };
export type ChildState = 'starting' | 'ready' | 'leaving';

/** The side of the supervisor. */
export type Child = ChildPlan & {
  pid: number | undefined;
  state(): ChildState;
  /** The last question had no answer in time, and none has come since. */
  isSilent(): boolean;
  /** How long it drains; 0 until it has said so. */
  drainMs(): number;
  /** Resolves when it collects and delivers, which may be before all its roles have started. */
  serves: Promise<void>;
  ready: Promise<void>;
  ended: Promise<ChildEnd>;
  /** Undefined when the child gives no answer. */
  ask(what: Asked): Promise<Answer | undefined>;
  order(kind: EndOrder): void;
  kill(): void;
};

/** A child learns its number and roles from this variable; everything else it reads as the supervisor has. */
export const CHILD_VARIABLE = 'MILLRACE_CHILD';
/** Below the time that Prometheus waits for a page. */
const ANSWER_WITHIN_MS = 2_000;
/** Below the time that a load balancer waits for /readyz: one child that hangs must not take the machine away. */
const SILENT_ANSWER_WITHIN_MS = 200;

/** Runs the program of this process once more. */
export function startChild(plan: ChildPlan): Child {
  try {
    return follow(plan, cluster.fork({ [CHILD_VARIABLE]: JSON.stringify(plan) }));
  } catch (error) {
    return stillborn(plan, error instanceof Error ? error.message : String(error));
  }
}

/** The machine has no room for another process. That must not end those that it has. */
function stillborn(plan: ChildPlan, error: string): Child {
  return {
    ...plan,
    pid: undefined,
    state: () => 'starting',
    isSilent: () => false,
    drainMs: () => 0,
    serves: new Promise(() => undefined),
    ready: new Promise(() => undefined),
    ended: Promise.resolve({ code: null, signal: null, error, readyMs: 0 }),
    ask: () => Promise.resolve(undefined),
    order: () => undefined,
    kill: () => undefined,
  };
}

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
function follow(plan: ChildPlan, worker: Worker): Child {
  const serves = Promise.withResolvers<void>();
  const ready = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<ChildEnd>();
  const asked = new Map<number, (answer: Answer | undefined) => void>();
  let state: ChildState = 'starting';
  let readyAt = Infinity;
  let answers = false;
  let drainMs = 0;
  let isSilent = false;
  let ordered: EndOrder | undefined;
  let questions = 0;
  const end = (how: Omit<ChildEnd, 'readyMs'>) => {
    ended.resolve({ ...how, readyMs: Math.max(0, performance.now() - readyAt) });
    for (const answered of asked.values()) answered(undefined);
  };
  const tell = (order: Order) => {
    if (worker.isConnected()) worker.send(order, () => undefined);
  };
  worker.on('message', (message: Told) => {
    if (message.kind === 'answers') {
      answers = true;
      drainMs = message.drainMs ?? 0;
      // While a child loads its code, Node drops what its supervisor says.
      if (ordered !== undefined) tell({ kind: ordered });
    }
    if (message.kind === 'answer') {
      isSilent = false;
      asked.get(message.id)?.(message);
    }
    if (message.kind === 'serves' || message.kind === 'ready') serves.resolve();
    if (message.kind !== 'ready' || state !== 'starting') return;
    state = 'ready';
    readyAt = performance.now();
    ready.resolve();
  });
  worker.once('exit', (code: number | null, signal: string | null) => end({ code, signal }));
  worker.on('error', (error) => {
    // A process that exists has ended when it exits. Until then its seat is taken, also when the channel to it fails.
    if (worker.process.pid === undefined) end({ code: null, signal: null, error: error.message });
  });
  return {
    ...plan,
    pid: worker.process.pid,
    state: () => state,
    isSilent: () => isSilent,
    drainMs: () => drainMs,
    serves: serves.promise,
    ready: ready.promise,
    ended: ended.promise,
    ask(what) {
      if (!answers || !worker.isConnected()) return Promise.resolve(undefined);
      const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
      const id = (questions += 1);
      const giveUp = () => {
        isSilent = true;
        resolve(undefined);
      };
      const impatient = setTimeout(giveUp, isSilent ? SILENT_ANSWER_WITHIN_MS : ANSWER_WITHIN_MS);
      asked.set(id, resolve);
      tell({ kind: 'ask', id, what });
      return promise.finally(() => {
        clearTimeout(impatient);
        asked.delete(id);
      });
    },
    order(kind) {
      state = 'leaving';
      ordered = kind;
      tell({ kind });
    },
    kill: () => void worker.process.kill('SIGKILL'),
  };
}
