import { randomUUID } from 'node:crypto';
import { openInspector } from '../../../server/testing/inspector.ts';
import { REQUEST_FORMATS } from '../../../server/src/domain/format.ts';
import { openStore } from '../../../server/src/store/open-store.ts';
import { eventSubject } from '../../../server/src/stream/layout/layout.ts';
import { ENVELOPE_HEADER } from '../../../server/src/stream/events/request-message.ts';
import { markedCall } from '../deliver/marked-call.ts';
import type { DeliverScene } from '../deliver/open-deliver-scene.ts';
import { SILENT } from '../sources.ts';
import type { Database } from '../start-database.ts';

/**
 * Stores requests as compute does, in a format that the version before does not read: for the destinations of each source, and of a source
 * that has none. The oracle takes their calls for calls of clients, so each has to arrive there, once and nowhere else.
 */
export async function sendComputed(
  { cluster, oracle, plan }: Pick<DeliverScene, 'cluster' | 'oracle' | 'plan'>,
  { serviceUrl }: Database,
  many: number,
): Promise<void> {
  await using inspector = await openInspector(cluster.adminUrl, SILENT);
  await using store = await openStore(serviceUrl);
  type Row = { id: string; name: string; workspace_id: string };
  const rows = await store.asSystem((tx) => tx.query<Row>('SELECT id, name, workspace_id FROM destinations'));
  for (const source of plan.sources) {
    const names = plan.destinations.filter(({ sourceId }) => sourceId === source.id).map(({ id }) => id);
    const own = rows.filter(({ name }) => names.includes(name));
    const [{ workspace_id: workspaceId } = { workspace_id: '' }] = own;
    for (let nth = 0; nth < many; nth += 1) {
      const messageId = `computed-${randomUUID()}`;
      const batch = { sourceId: source.id, ids: [messageId] };
      const startedAt = performance.now();
      oracle.noteSent(batch, startedAt);
      const envelope = {
        shape: 'batch',
        receivedAt: new Date().toISOString(),
        requestId: messageId,
        calls: 1,
        computed: { workspaceId, destinations: own.map(({ id }) => id) },
        v: REQUEST_FORMATS.computed,
      };
      const text = JSON.stringify({ batch: [markedCall(source, messageId)] });
      const subject = eventSubject(nth % 2, 'src_computed');
      await inspector.publish(subject, text, { [ENVELOPE_HEADER]: JSON.stringify(envelope) });
      oracle.noteAttempt(batch, { startedAt, endedAt: performance.now(), outcome: 200, hasRetryAfter: false });
    }
  }
}
