export type LaneHealth = {
  destinationId: string;
  workspaceId: string;
  /** `failing`: only probes are sent. `asked_to_wait`: the receiver named a time. `draining`: sent again, beside new events. */
  state: 'failing' | 'asked_to_wait' | 'paused' | 'waiting' | 'draining';
  /** Since when it has been in this state. */
  since: string;
  /** The receiver's last answer, in words. */
  why?: string;
  /** When the lane is looked at next: the next probe, or the next delivery that is due. */
  nextAt?: string;
  /** The receiver asked for quiet until then. Left out by older versions. */
  quietUntil?: string;
  /** Deliveries that wait, as far as we know; large lanes are counted by groups. */
  depth: number;
  bytes: number;
  /** The most that the lane may hold now; it shrinks as the lanes of others fill. Left out by older versions. */
  limitBytes?: number;
  deliveriesPerSecond?: number;
  clearInMs?: number;
  updatedAt: string;
};
