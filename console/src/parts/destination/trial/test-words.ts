/** A test in text: the request as it went over the wire, the phases of the answer, and the calls to start from. */
import type { TestedDestination } from '@millrace/contract/control';

type Request = TestedDestination['request'];
type Timings = TestedDestination['answer']['timings'];

/** Values of the destination's own headers are secrets, which the API leaves out. */
export function requestText({ method, url, headers, body }: Request): string {
  const path = URL.canParse(url) ? `${new URL(url).pathname}${new URL(url).search}` : url;
  const lines = headers.map(({ name, value }) => `${name}: ${value ?? '(stored value, hidden)'}`);
  return [`${method} ${path} HTTP/1.1`, ...lines, '', body].join('\n');
}

/** The error class, or the status of an answer that is not a success. */
export function codeOf({ answer, outcome }: Pick<TestedDestination, 'answer' | 'outcome'>): string | undefined {
  if (outcome.kind === 'delivered') return undefined;
  return answer.errorClass ?? (answer.status === null ? undefined : `http_${answer.status}`);
}

/** `firstByteMs` is counted from the start of the request. */
export function phasesOf({ dnsMs, connectMs, tlsMs, firstByteMs, totalMs }: Timings) {
  const before = (dnsMs ?? 0) + (connectMs ?? 0) + (tlsMs ?? 0);
  const waited = firstByteMs === undefined ? undefined : Math.max(firstByteMs - before, 0);
  return [
    { name: 'Name', ms: dnsMs },
    { name: 'Connection', ms: connectMs },
    { name: 'TLS', ms: tlsMs },
    { name: 'Answer', ms: waited },
    { name: 'Body', ms: firstByteMs === undefined ? undefined : Math.max(totalMs - firstByteMs, 0) },
  ].filter(({ name, ms }) => ms !== undefined || name === 'Answer');
}

export const TEST_TYPES = ['track', 'identify', 'page', 'screen', 'group', 'alias', 'delete'] as const;
export type TestType = (typeof TEST_TYPES)[number];

/** A call of each type to start from. An erasure is not a call, so only the server's own sample of it can be sent. */
export function sampleText(type: TestType): string {
  if (type === 'delete') return '';
  return JSON.stringify({ type, ...SAMPLES[type] }, null, 2);
}

const USER = { userId: 'millrace-test-user' };
const SAMPLES: Readonly<Record<Exclude<TestType, 'delete'>, object>> = {
  track: { ...USER, event: 'Order Completed', properties: { orderId: 'FH-1', revenue: 12.5, currency: 'EUR' } },
  identify: { ...USER, traits: { email: 'test@example.com', plan: 'pro' } },
  page: { ...USER, name: 'Home', properties: { url: 'https://shop.example/', title: 'Home' } },
  screen: { ...USER, name: 'Cart', properties: { items: 2 } },
  group: { ...USER, groupId: 'test-group', traits: { name: 'Test group' } },
  alias: { ...USER, previousId: 'millrace-test-before' },
};

export type ReadCall = { ok: true; call: Record<string, unknown> } | { ok: false; problem: string };

/** The typed call, or where its JSON is wrong. */
export function readCall(text: string): ReadCall {
  try {
    const call: unknown = JSON.parse(text);
    if (typeof call !== 'object' || call === null || Array.isArray(call)) {
      return { ok: false, problem: 'A call is one JSON object, between { and }.' };
    }
    return { ok: true, call: call as Record<string, unknown> };
  } catch (error) {
    return { ok: false, problem: `This is not JSON yet${placeIn(text, error)}.` };
  }
}

/** Browsers name the place of the mistake, each in its own way. */
function placeIn(text: string, error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  const position = /position (\d+)/.exec(message)?.[1];
  const line = /line (\d+)/.exec(message)?.[1];
  if (line !== undefined) return `: look at line ${line}`;
  if (position !== undefined) return `: look at line ${text.slice(0, Number(position)).split('\n').length}`;
  const near = lineNear(text, message);
  if (near !== undefined) return `: look at line ${near}`;
  return text.trim() === '' ? ': it is empty' : ': look at its end';
}

/** Some browsers quote the text around the mistake in place of its position. */
function lineNear(text: string, message: string): number | undefined {
  const [, token = '', quote = ''] =
    /token '?([^']+?)'?, (?:\.\.\.)?"([\s\S]*?)"(?:\.\.\.)? is not valid/.exec(message) ?? [];
  const start = quote === '' ? -1 : text.lastIndexOf(quote);
  if (start < 0) return undefined;
  return text.slice(0, start + Math.max(quote.lastIndexOf(token), 0)).split('\n').length;
}
