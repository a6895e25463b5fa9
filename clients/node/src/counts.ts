/** What became of calls. `kept` are those that wait in the spool for a better time; without a spool there are none. */
export type Counts = { sent: number; failed: number; dropped: number; kept: number };
