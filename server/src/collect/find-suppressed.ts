import { readId, type RequestShape } from '@millrace/contract';
import type { CollectConfig } from '../stream/config/config-bucket.ts';
import { callsOf } from './hide-key.ts';

/** The places of the calls whose user is suppressed; a single call has place 0. */
export type FindSuppressed = (sourceId: string, body: unknown, shape: RequestShape) => number[];

const NONE: number[] = [];

export function openFindSuppressed(config: Pick<CollectConfig, 'userMark' | 'hasMarks'>): FindSuppressed {
  return (sourceId, body, shape) => {
    if (!config.hasMarks(sourceId)) return NONE;
    const isSuppressed = (id: unknown) => {
      const text = readId(id);
      return text !== undefined && config.userMark(sourceId, text)?.isSuppressed === true;
    };
    const calls = shape === 'batch' ? callsOf(body, shape) : [body];
    return calls.flatMap((call, index) => (idsOf(call).some(isSuppressed) ? [index] : NONE));
  };
}

function idsOf(call: unknown): unknown[] {
  if (typeof call !== 'object' || call === null) return [];
  const { userId, previousId } = call as { userId?: unknown; previousId?: unknown };
  return [userId, previousId];
}
