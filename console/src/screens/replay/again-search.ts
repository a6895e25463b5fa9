/** The search of the form for a new replay that asks for the same as an earlier one. Pure. */
import type { ReplayJob } from '../../parts/job/replay-words.ts';

type Asked = Pick<ReplayJob['asked'], 'sourceId' | 'destinationId' | 'from' | 'to' | 'filter'>;

/** Undefined when the form cannot hold the filter: it has one type, and commas between names and ids. */
export function againSearch({ sourceId, destinationId, from, to, filter }: Asked): Record<string, string> | undefined {
  const { userIds = [], events = [], types = [] } = filter ?? {};
  if (types.length > 1 || ![...userIds, ...events].every(isOneEntry)) return undefined;
  return {
    sourceId,
    destinationId,
    from,
    to,
    ...(userIds.length === 0 ? {} : { userId: userIds.join(',') }),
    ...(events.length === 0 ? {} : { event: events.join(',') }),
    ...(types[0] === undefined ? {} : { type: types[0] }),
  };
}

/** The form splits at commas and line breaks, and trims each entry. */
function isOneEntry(value: string): boolean {
  return value !== '' && value.trim() === value && !/[,\r\n]/.test(value);
}
