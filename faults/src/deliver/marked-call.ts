import { createHmac } from 'node:crypto';
import type { Source } from '../sources.ts';

/** The marks that the receiver finds again in a body. */
export type Marked = { messageId: string; sourceId: string };

type Mark = { messageId: string; sourceId: string; hmac: string };
type Body = { userId?: unknown; event?: unknown; properties?: Record<string, unknown> & { mark?: Mark } };

const ORACLE_KEY = 'known to the oracle alone';
/** Characters that careless encoders and parsers stumble over. */
const ODD_TEXT = 'é ✓ 🙂 "quoted" \\ / <b>&amp;</b> \u2028 \u007f';

/** A call that proves on arrival who sent it and that nothing in it was changed on the way. */
export function markedCall({ id: sourceId }: Source, messageId: string): object {
  const userId = `user-${messageId}`;
  const event = 'Order Shipped';
  const content = { order: messageId, total: 12.5, text: ODD_TEXT };
  const hmac = hmacOf({ messageId, sourceId }, [userId, event, content]);
  return { type: 'track', messageId, userId, event, properties: { ...content, mark: { messageId, sourceId, hmac } } };
}

/** Undefined when the body is not one that the oracle has marked, or not any more. */
export function readMark(body: string): Marked | undefined {
  try {
    const { userId, event, properties }: Body = JSON.parse(body);
    if (properties?.mark === undefined) return undefined;
    const { mark, ...content } = properties;
    const isGood = mark.hmac === hmacOf(mark, [userId, event, content]);
    return isGood ? { messageId: mark.messageId, sourceId: mark.sourceId } : undefined;
  } catch {
    return undefined;
  }
}

function hmacOf({ messageId, sourceId }: Marked, content: unknown[]): string {
  return createHmac('sha256', ORACLE_KEY)
    .update(JSON.stringify([messageId, sourceId, ...content]))
    .digest('base64url');
}
