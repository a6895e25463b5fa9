import type { Logger } from '../log.ts';
import type { Store } from '../store/open-store.ts';
import { storable } from '../store/record-text.ts';
import { addRefusals } from '../store/refusals.ts';
import type { RefusedCalls } from '../stream/signals/refusals.ts';

export type RefusalNeeds = { store: Store; log: Logger };

/** Stores the refused calls that collect reports. A report that cannot be stored is dropped: delivery is at most once. */
export function recordRefusals({ store, log }: RefusalNeeds): (refused: RefusedCalls) => void {
  return ({ workspaceId, sourceId, code, count, at, samples }) => {
    const storableSamples = samples.map(({ message, messageId, call, at: sampledAt }) => ({
      at: sampledAt,
      message,
      ...(messageId === undefined ? {} : { messageId: storable(messageId) }),
      ...(call === undefined ? {} : { call: storable(call) }),
    }));
    const refusals = { workspaceId, sourceId, code, day: at.slice(0, 10), count, at, samples: storableSamples };
    store
      .inWorkspace(workspaceId, (tx) => addRefusals(tx, refusals))
      .catch((error: unknown) => log.debug({ sourceId, error: String(error) }, 'refusal.dropped'));
  };
}
