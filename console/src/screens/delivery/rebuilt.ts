/** Which rebuilt request belongs to the chosen attempt and its target. Pure. */
import type { DeliveryAttempt, RebuiltRequest } from '@millrace/contract/control';

/** The place among the present targets; undefined when the destination no longer has this URL. */
export function targetIndexOf(targets: readonly { url: string }[], url: string | undefined): number | undefined {
  // An attempt without an answer names no URL: the first target stands for it.
  if (url === undefined) return 0;
  const found = targets.findIndex((target) => target.url === url);
  return found === -1 ? undefined : found;
}

/** After a replay attempts count from 1 again, and the API rebuilds the latest with that number: only the time tells them apart. */
export function isOfAttempt({ at }: Pick<RebuiltRequest, 'at'>, attempt: Pick<DeliveryAttempt, 'at'>): boolean {
  return Date.parse(at) === Date.parse(attempt.at);
}
