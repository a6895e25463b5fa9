/**
 * How long the end of a process may take after its drain (MILLRACE_DRAIN_MS). When the drain is over its roles stop at the same time, so the
 * slowest of them counts, not the sum. Units, compose files, chart and docs give `STOP_WITHIN_MS`, and tests hold them against it.
 */

/** For the requests under way in collect and in control: as long as one may take to arrive. */
export const REQUESTS_END_MS = 10_000;
/** Attempts end by their own deadline, after 5 seconds; the rest is for NATS to store the deliveries that are parked then. */
export const DELIVER_END_MS = 20_000;
/** For acknowledgements on their way, and for connections to NATS and PostgreSQL. */
const CLOSE_MS = 5_000;
/** A process that is not done by then ends itself, which loses nothing. */
export const END_MS = Math.max(REQUESTS_END_MS, DELIVER_END_MS) + CLOSE_MS;
/** A supervisor kills a child that did not even do that. */
export const CHILD_END_MS = END_MS + 2_500;
/** A process manager that waits for this long, and for the drain, has to kill nothing. */
export const STOP_WITHIN_MS = CHILD_END_MS + 2_500;
