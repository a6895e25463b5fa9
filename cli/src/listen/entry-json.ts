/** An entry as one line of JSON, for `--json`, `--output json` and `--record`. */
import type { Forwarded } from '@millrace/server/forward';
import { type Entry, nameOf, userOf } from './entry.ts';

export function entryJson(entry: Entry): Record<string, unknown> {
  const { kind } = entry;
  return { at: entry.at.toISOString(), kind, ...rest(entry) };
}

function rest(entry: Entry): Record<string, unknown> {
  switch (entry.kind) {
    case 'call': {
      const { event, bytes, isRepeat } = entry;
      return { ok: true, ...about(event), bytes, ...(isRepeat ? { isRepeat } : {}), event };
    }
    case 'refused': {
      const { type, name, userId, bytes, code, message, call } = entry;
      return { ok: false, type, name, userId, bytes, code, message, call };
    }
    case 'webhook': {
      const { url, headers, body, bytes, signatures, status } = entry;
      const ok = signatures.every((signature) => signature.ok);
      return { ok, ...about(body), bytes, path: url, status, signatures, headers: Object.fromEntries(headers), body };
    }
    case 'injected': {
      const { failure, method, path, bytes } = entry;
      return { ok: false, failure, method, path, bytes };
    }
    case 'forwarded':
      return { ...about(entry.event), ...forwardedJson(entry) };
    case 'skipped':
      return { ...about(entry.event), messageId: entry.event.messageId, reason: entry.reason };
    case 'note':
      return { ok: !entry.isProblem, message: entry.text };
  }
}

function about(body: Readonly<Record<string, unknown>>) {
  return { type: body['type'], name: nameOf(body), userId: userOf(body) };
}

function forwardedJson({ request, attempt, webhookId, answer, outcome }: Forwarded): Record<string, unknown> {
  const result =
    answer.kind === 'status'
      ? { status: answer.status, answer: answer.body }
      : { error: answer.errorClass, message: answer.message };
  const headers: Record<string, string> = {};
  for (let at = 0; at + 1 < request.headers.length; at += 2)
    headers[request.headers[at] ?? ''] = request.headers[at + 1] ?? '';
  return {
    ok: outcome.kind === 'delivered',
    webhookId,
    attempt,
    url: request.url,
    ...result,
    ms: Math.round(answer.timings.totalMs),
    outcome: outcome.kind,
    headers,
    body: JSON.parse(request.body) as unknown,
  };
}
