/** A replay takes a range of times and a filter: the millisecond in which the event came in, its user and its name. */
import type { StoredItem } from './use-stored-call.ts';
import type { JourneyPart } from './verdict.ts';

export function replaySearch({ event, sourceId }: StoredItem, parts: readonly JourneyPart[]): Record<string, string> {
  const found: Record<string, string> = { sourceId };
  const [only, ...others] = parts;
  if (only !== undefined && others.length === 0) found.destinationId = only.destinationId;
  if (typeof event.messageId === 'string') found.messageId = event.messageId;
  if (isPlain(event.userId)) found.userId = event.userId;
  if (isPlain(event.event)) found.event = event.event;
  if (isPlain(event.type)) found.type = event.type;
  const at = typeof event.receivedAt === 'string' ? Date.parse(event.receivedAt) : Number.NaN;
  if (Number.isNaN(at)) return found;
  return { ...found, from: new Date(at).toISOString(), to: new Date(at + 1).toISOString() };
}

/** The fields of a replay take lists with commas: a text that a list would change is left out of the filter. */
function isPlain(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value === value.trim() && !/[\n,]/.test(value);
}
