/** How many calls came to which end. `kept` are those that wait in the spool for a later try; without a spool there are none. */
export type Counts = { sent: number; failed: number; dropped: number; kept: number };
