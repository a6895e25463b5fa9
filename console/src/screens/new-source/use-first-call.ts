import type { StoredEventItems } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import type { Static } from 'typebox';
import { reading } from '../../api/queries.ts';
import type { StreamState } from '../../api/stream-control.ts';
import { useTail } from '../../parts/tail/use-tail.ts';
import type { CallRow } from '../../parts/tail/tail-rows.ts';

export type FirstCallFound = {
  /** Whether it came while this page was open; else it is the latest that is stored. */
  isFresh: boolean;
  call: { at: string; type: string; messageId: string | undefined; content: unknown } | undefined;
  /** The latest call that Millrace refused while this page was open. */
  refused: CallRow | undefined;
  stream: StreamState;
};

const LOOK_AGAIN_MS = 5_000;

/** The live tail tells of the call at once. The stored events know of one that came before this page was opened, or past the tail. */
export function useFirstCall(sourceId: string): FirstCallFound {
  const { rows, state } = useTail(sourceId);
  const calls = rows.list().filter((row) => row.kind !== 'left-out');
  const heard = calls.findLast(({ kind }) => kind === 'accepted');
  const stored = useQuery({
    ...reading<Static<typeof StoredEventItems>>('/stored-events', { query: { sourceId, limit: 1 } }),
    refetchInterval: ({ state: { data } }) => (heard === undefined && data?.items.length !== 1 ? LOOK_AGAIN_MS : false),
  });
  const [item] = stored.data?.items ?? [];
  const refused = calls.find(({ kind }) => kind === 'refused');
  if (heard !== undefined && !isBefore(item?.storedAt, heard.at)) {
    const { at, type = 'call', messageId, call } = heard;
    const content = call ?? { type, messageId };
    return { isFresh: true, call: { at, type, messageId, content }, refused, stream: state };
  }
  if (item === undefined) return { isFresh: false, call: undefined, refused, stream: state };
  const { type, messageId } = item.event as { type?: string; messageId?: string };
  const call = { at: item.storedAt, type: type ?? 'call', messageId, content: item.event };
  return { isFresh: false, call, refused, stream: state };
}

/** The engine and collect read their clocks at different moments. */
const CLOCKS_MS = 100;

function isBefore(storedAt: string | undefined, heardAt: string): boolean {
  return storedAt !== undefined && Date.parse(storedAt) < Date.parse(heardAt) - CLOCKS_MS;
}
