import { openRateLimiter } from '../../limits/rate-limit.ts';
import type { ProcessUse } from '../limits/read-use.ts';
import type { WorkspaceLimits } from '../limits/workspace-limits.ts';

export type RequestLimit = Pick<ProcessUse, 'requests'> & {
  /**
   * Throws the same problem as `take` for a sender that was refused within the last second and whose workspace has no room yet. Control
   * asks before it looks the sender up, so that a request over the limit costs no query.
   */
  recall(sender: string): void;
  /** Counts a request of the workspace; throws a problem when it has sent too many. */
  take(workspaceId: string, sender: string): void;
};

/** A sender that has lost its rights is told so after this. */
const REMEMBERED_MS = 1_000;
const MAX_REMEMBERED = 10_000;

/** How many requests a second a workspace sends to this process: a token bucket, as collect has for calls. */
export function openRequestLimit(limits: WorkspaceLimits | undefined, nowMs: () => number): RequestLimit {
  const limiter = openRateLimiter(nowMs);
  /** By sender; the oldest refusal first. */
  const refused = new Map<string, { workspaceId: string; at: number }>();

  /** Tells whether the workspace has a limit. */
  function mustHaveRoom(workspaceId: string): boolean {
    const perSecond = limits?.of(workspaceId).apiRequestsPerSecond;
    if (limits === undefined || perSecond === undefined) return false;
    const waitSeconds = limiter.waitSeconds(workspaceId, { perSecond, burst: perSecond * 2 });
    if (waitSeconds > 0) throw limits.refusal('apiRequestsPerSecond', perSecond, 'too_many_requests_a_second');
    return true;
  }

  function remember(sender: string, workspaceId: string): void {
    refused.delete(sender);
    const [oldest] = refused.size >= MAX_REMEMBERED ? refused.keys() : [];
    if (oldest !== undefined) refused.delete(oldest);
    refused.set(sender, { workspaceId, at: nowMs() });
  }

  return {
    requests: limiter.rates,
    recall(sender) {
      const one = refused.get(sender);
      if (one === undefined) return;
      if (nowMs() - one.at < REMEMBERED_MS) mustHaveRoom(one.workspaceId);
      refused.delete(sender);
    },
    take(workspaceId, sender) {
      try {
        // Requests without a limit are no debt for the time when there is one again.
        if (mustHaveRoom(workspaceId)) limiter.spend(workspaceId, 1);
      } catch (error) {
        remember(sender, workspaceId);
        throw error;
      }
    },
  };
}
