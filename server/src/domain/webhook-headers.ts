/**
 * The header names of a webhook's POST. Deliver sets them (`deliver/attempt/webhook.ts`), and control refuses headers of these
 * names when the owner of a destination asks for their own (`control/settings/webhook-headers.ts`).
 */
export const SET_HEADERS = {
  userAgent: 'User-Agent',
  contentType: 'Content-Type',
  id: 'webhook-id',
  timestamp: 'webhook-timestamp',
  signature: 'webhook-signature',
  bodySignature: 'X-Signature',
  order: 'X-Millrace-Order',
  attempt: 'X-Millrace-Attempt',
  giveUpAt: 'X-Millrace-Give-Up-At',
} as const;

/** Names that HTTP itself or the client uses. */
const OF_HTTP = [
  'host',
  'content-length',
  'connection',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'keep-alive',
  // Would name the prototype of the object that holds the headers.
  '__proto__',
];
const RESERVED = new Set([...OF_HTTP, ...Object.values(SET_HEADERS).map((name) => name.toLowerCase())]);
/** The whole namespaces: a later version may set more of them. */
const RESERVED_PREFIXES = ['proxy-', 'webhook-', 'x-millrace-'];

export function isReservedHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return RESERVED.has(lower) || RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix));
}
