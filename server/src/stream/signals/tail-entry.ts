/** An entry of the live tail, from collect or deliver. Core messages: never stored, and lost without a listener. */
export type TailEntry = About & { at: string } & (
    | {
        kind: 'accepted';
        /** As it was sent, without its write key; left out when it is large. */
        call?: unknown;
      }
    | { kind: 'refused'; code: string; message: string }
    | {
        kind: 'outcome';
        outcome: string;
        destinationId: string;
        deliveryId: string;
        attempt?: number;
        /** A status, an error class or a reason, for each target that was tried. */
        why?: string[];
        nextAt?: string;
      }
  );

/** `name` is that of a track event, page or screen. */
export type About = { messageId?: string; type?: string; name?: string; userId?: string; anonymousId?: string };

export type TailFilter = { type?: string; event?: string; userId?: string };

/** `leftOut`: how many entries a filter let through that were not sent, by the filter's key. */
export type TailBatch = { entries: TailEntry[]; leftOut: Record<string, number> };

/** A listener of a source, with its filters; an empty list when it leaves. */
export type TailWant = { from: string; filters: TailFilter[] };

/** More than this no person can read, and few browsers can show. */
export const MAX_TAIL_PER_SECOND = 50;
export const WANT_EVERY_MS = 2_000;
export const WANT_LASTS_MS = 5_000;

export function keyOf({ type, event, userId }: TailFilter): string {
  return JSON.stringify([type, event, userId]);
}

/** Fields of a call as it came: not checked. */
export type Fields = { event?: unknown; name?: unknown; userId?: unknown };

export function isMatch(filter: TailFilter, type: unknown, fields: Fields): boolean {
  if (filter.type !== undefined && filter.type !== type) return false;
  if (filter.event !== undefined && filter.event !== (fields.event ?? fields.name)) return false;
  return filter.userId === undefined || filter.userId === String(fields.userId);
}
