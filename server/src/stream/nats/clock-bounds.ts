/** One answer with the engine's time in it: the engine's clock showed `engineAt` at a moment between the other two, which are monotonic. */
export type ClockReading = { engineAt: number; sentAt: number; arrivedAt: number };

/** Between which two numbers the difference of two clocks lies. */
export type Bounds = { least: number; most: number };

/** The bounds of the offset from the monotonic clock to that of NATS, as known at a monotonic time. */
export type ClockBounds = Bounds & { knownAt: number };

/** A host whose clock is further off than this is refused at its start. */
export const MAX_OFFSET_MS = 2_000;
/** Two clocks of usual quality part by less than 200 millionths. */
const DRIFT = 0.000_2;
/** A stamp is read in whole milliseconds. */
const STAMP_MS = 1;

export function boundsOf({ engineAt, sentAt, arrivedAt }: ClockReading): ClockBounds {
  return { least: engineAt - arrivedAt, most: engineAt + STAMP_MS - sentAt, knownAt: arrivedAt };
}

/** The bounds after one more answer. An answer that contradicts the others is right: a clock was set, or another server leads. */
export function narrow(known: ClockBounds | undefined, reading: ClockReading): ClockBounds {
  const seen = boundsOf(reading);
  if (known === undefined) return seen;
  const driftMs = DRIFT * Math.max(0, seen.knownAt - known.knownAt);
  const least = Math.max(known.least - driftMs, seen.least);
  const most = Math.min(known.most + driftMs, seen.most);
  return least <= most ? { least, most, knownAt: seen.knownAt } : seen;
}

export function middleOf({ least, most }: Bounds): number {
  return (least + most) / 2;
}

/** How far a host's clock is ahead of the engine's, given how far it is ahead of its own monotonic clock. */
export function hostOffset({ least, most }: Bounds, hostAhead: number): Bounds {
  return { least: hostAhead - most, most: hostAhead - least };
}

/** Counts only the certain part: a slow answer says little about a clock. */
export function isTooFar({ least, most }: Bounds): boolean {
  return least > MAX_OFFSET_MS || most < -MAX_OFFSET_MS;
}

/** `than` are the servers or the one server compared with. */
export function describeOffset(offset: Bounds, than: string): string {
  const seconds = middleOf(offset) / 1_000;
  const direction = seconds > 0 ? 'ahead of' : 'behind';
  return (
    `the clock of this host is ${Math.abs(seconds).toFixed(1)} s ${direction} that of ${than}, ` +
    `and at most ${MAX_OFFSET_MS / 1_000} s are allowed: let NTP (chrony, systemd-timesyncd) set the clocks of all hosts`
  );
}
