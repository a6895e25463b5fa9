/** A system of the comparison, ours or a peer's. */

/** A working receiver, one that never answers, one that answers 500. */
export type ReceiverKind = 'ok' | 'hang' | 'fail';
export type Post = { url: string; headers: Record<string, string>; body: string };

/** One tenant with one destination, and the requests that make events for it. `event` is the JSON of a call. */
export type Endpoint = {
  kind: ReceiverKind;
  one(event: string, id: string): Post;
  /** Only where the system takes several events in a request. */
  batch?(events: readonly string[]): Post;
};

export type RunningSystem = AsyncDisposable & {
  endpoints: Endpoint[];
  /** The processes that were started for it, engines included; their children count with them. */
  pids(): number[];
  /** The engine that keeps accepted events until they are delivered. */
  queue: { name: string; kill(): Promise<void>; start(): Promise<void> };
};

export type System = {
  name: string;
  /** Deliveries under way at a time; undefined where we know of no setting. */
  slots: number | undefined;
  /** The variable that has to name its program and does not; undefined if the system can run. */
  missing: string | undefined;
  /** Versions and settings that differ from the defaults, printed before it runs: asks the programs. */
  about(): readonly string[];
  /** `urlOf` gives the address of the receiver of the k-th endpoint, of its kind. */
  open(urlOf: (index: number, kind: ReceiverKind) => string): Promise<RunningSystem>;
};

/** Of 20 tenants five hang and five fail. The first one works: bursts, rates and outages use it. */
export const ENDPOINTS = 20;
export function kindOf(index: number): ReceiverKind {
  return (['ok', 'hang', 'ok', 'fail'] as const)[index % 4] ?? 'ok';
}

export function indexes(): number[] {
  return Array.from({ length: ENDPOINTS }, (_, index) => index);
}
