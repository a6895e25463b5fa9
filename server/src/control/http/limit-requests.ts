import { openRateLimiter } from '../../limits/rate-limit.ts';
import type { ProcessUse } from '../limits/read-use.ts';
import type { WorkspaceLimits } from '../limits/workspace-limits.ts';

export type RequestLimit = Pick<ProcessUse, 'requests'> & {
  /** Counts a request of the workspace; throws a problem when it has sent too many. */
  take(workspaceId: string): void;
};

/** How many requests a second a workspace sends to this process: a token bucket, as collect has for calls. */
export function openRequestLimit(limits: WorkspaceLimits | undefined, nowMs: () => number): RequestLimit {
  const limiter = openRateLimiter(nowMs);
  return {
    requests: limiter.rates,
    take(workspaceId) {
      const perSecond = limits?.of(workspaceId).apiRequestsPerSecond;
      if (limits === undefined || perSecond === undefined) return;
      const waitSeconds = limiter.waitSeconds(workspaceId, { perSecond, burst: perSecond * 2 });
      if (waitSeconds > 0) throw limits.refusal('apiRequestsPerSecond', perSecond, 'too_many_requests_a_second');
      limiter.spend(workspaceId, 1);
    },
  };
}
