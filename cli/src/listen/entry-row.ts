/** An entry as a row of the list, with its details. */
import { clockMs } from '@millrace/console/format/times';
import type { AcceptedEvent } from '@millrace/contract';
import type { Forwarded } from '@millrace/server/forward';
import { type Row, type Section, sizeText, type Tone } from '../view/row.ts';
import { curlCommand } from './curl-command.ts';
import {
  type CallEntry,
  type Entry,
  type ForwardEntry,
  type Headers,
  type InjectedEntry,
  nameOf,
  type RefusedEntry,
  type SkippedEntry,
  userOf,
  type WebhookEntry,
} from './entry.ts';

/** The actions that a row offers. */
export type RowActions = {
  /** Sends the event again; absent when nothing is forwarded. */
  resend?: ((entry: CallEntry) => Promise<string>) | undefined;
  /** Of the loopback collector; absent for the events of a server. */
  collectUrl?(): string | undefined;
};

export function entryRow(entry: Entry, actions: RowActions = {}): Row {
  switch (entry.kind) {
    case 'call':
      return callRow(entry, actions);
    case 'refused':
      return refusedRow(entry);
    case 'webhook':
      return webhookRow(entry);
    case 'injected':
      return injectedRow(entry);
    case 'forwarded': {
      const told = { type: '→ forward', status: forwardStatus(entry), tone: forwardTone(entry) };
      return eventRow(entry, told, () => forwardSections(entry));
    }
    case 'skipped': {
      const told = { type: '→ skip', status: `skipped: ${entry.reason}`, tone: 'plain' } as const;
      return eventRow(entry, told, () => [{ title: 'Skipped', lines: [entry.reason] }]);
    }
    case 'note': {
      const { id, at, text, isProblem } = entry;
      const cells = { time: clockMs(at), type: '', name: '', user: '', size: '', status: text };
      const details = () => [{ title: 'Note', lines: [text] }];
      return { id, bytes: ROW_BYTES, cells, tone: isProblem ? 'warn' : 'plain', details };
    }
  }
}

/** The memory that a row takes besides its bodies. */
const ROW_BYTES = 1_000;

function refusedRow({ id, at, type, name, userId, bytes, code, message, call }: RefusedEntry): Row {
  const cells = {
    time: clockMs(at),
    type,
    name: name === '' && type === 'track' ? '(no event name)' : name,
    user: userId,
    size: sizeText(bytes),
    status: `REJECTED ${message}`,
  };
  const details = (): Section[] => [
    { title: 'Rejected', lines: [message, `code: ${code}`], tone: 'bad' },
    { title: 'Call', lines: pretty(call) },
  ];
  return { id, bytes: ROW_BYTES + 2 * (bytes ?? 0), cells, tone: 'bad', details };
}

const FAILURES: Readonly<Record<string, string>> = { timeout: 'timeout: no answer', reset: 'connection reset' };

function injectedRow({ id, at, failure, method, path, bytes }: InjectedEntry): Row {
  const status = `INJECTED ${FAILURES[failure] ?? failure}`;
  const cells = { time: clockMs(at), type: method, name: path, user: '', size: sizeText(bytes), status };
  const details = (): Section[] => [{ title: 'Injected failure', lines: [`${method} ${path}`, status], tone: 'warn' }];
  return { id, bytes: ROW_BYTES, cells, tone: 'warn', details };
}

type Told = { type: string; status: string; tone: Tone };

/** A row of its own for what became of an event. */
function eventRow(
  { id, at, event }: ForwardEntry | SkippedEntry,
  { type, status, tone }: Told,
  details: Row['details'],
): Row {
  const cells = { time: clockMs(at), type, name: nameOf(event), user: userOf(event), size: '', status };
  return { id, bytes: ROW_BYTES, cells, tone, details };
}

/** A call with what became of it: the view shows both in one row. */
export function callRow(entry: CallEntry, actions: RowActions, forwarded?: ForwardEntry, skipped?: string): Row {
  const { event, bytes, isRepeat, id, at } = entry;
  const suffix =
    forwarded === undefined
      ? skipped === undefined
        ? ''
        : `  → skipped: ${skipped}`
      : `  → ${forwardStatus(forwarded)}`;
  const status = `${isRepeat ? 'ok (repeat: stored once)' : 'ok'}${suffix}`;
  const cells = {
    time: clockMs(at),
    type: event.type,
    name: nameOf(event),
    user: userOf(event),
    size: sizeText(bytes),
    status,
  };
  const tone: Tone = forwarded === undefined ? (isRepeat ? 'warn' : 'good') : forwardTone(forwarded);
  const row: Row = {
    id,
    bytes: ROW_BYTES + 4 * bytes,
    cells,
    tone,
    details: () => [
      ...(forwarded === undefined ? [] : forwardSections(forwarded)),
      { title: 'Event', lines: pretty(event) },
    ],
  };
  row.curl = () => (forwarded === undefined ? curlOfCall(event, actions.collectUrl?.()) : curlOf(forwarded));
  const { resend } = actions;
  if (resend !== undefined && !isRepeat) row.resend = () => resend(entry);
  return row;
}

function webhookRow(entry: WebhookEntry): Row {
  const { id, at, url, headers, body, text, bytes, signatures, status } = entry;
  const wrong = signatures.filter(({ ok }) => !ok);
  const isChecked = signatures.length > 0;
  const verdict = isChecked ? 'ok, signatures valid' : 'ok, signatures not checked (give --secret)';
  const problem = wrong.map(({ header, says }) => `${header} ${says}`).join('; ');
  const events = body['type'] === 'batch' ? body['events'] : undefined;
  const name = Array.isArray(events) ? `${events.length} events` : nameOf(body);
  const cells = {
    time: clockMs(at),
    type: typeof body['type'] === 'string' ? body['type'] : 'webhook',
    name: name === '' ? url : name,
    user: userOf(body),
    size: sizeText(bytes),
    status: wrong.length === 0 ? `webhook ${verdict}` : `REJECTED ${problem}`,
  };
  const sections: Section[] = [
    { title: 'Received', lines: [`POST ${url}`, `answered ${status}`] },
    ...(isChecked
      ? [
          {
            title: 'Signatures',
            lines: signatures.map(({ header, says }) => `${header} ${says}`),
            tone: wrong.length === 0 ? ('good' as const) : ('bad' as const),
          },
        ]
      : []),
    { title: 'Headers', lines: headers.map(([header, value]) => `${header}: ${value}`) },
    { title: 'Body', lines: pretty(body) },
  ];
  const curl = () => curlCommand({ url: `http://${hostOf(headers)}${url}`, headers, body: text });
  return {
    id,
    bytes: ROW_BYTES + 4 * bytes,
    cells,
    tone: wrong.length === 0 ? (isChecked ? 'good' : 'plain') : 'bad',
    details: () => sections,
    curl,
  };
}

function hostOf(headers: Headers): string {
  return headers.find(([name]) => name === 'host')?.[1] ?? '127.0.0.1';
}

export function forwardStatus({ answer, outcome, attempt }: Forwarded): string {
  const ms = `${Math.round(answer.timings.totalMs)} ms`;
  const what = answer.kind === 'status' ? `${answer.status} in ${ms}` : answer.message;
  const which = attempt > 1 ? ` (attempt ${attempt})` : '';
  return `${what}${which}${next(outcome)}`;
}

function next(outcome: Forwarded['outcome']): string {
  switch (outcome.kind) {
    case 'delivered':
      return '';
    case 'retry':
      return `; production tries again in ${lengthText(outcome.dueAt - Date.now())}`;
    case 'discarded':
      return '; production discards it, as it would be refused again';
    case 'expired':
      return '; production gives it up';
  }
}

function lengthText(ms: number): string {
  const seconds = Math.max(1, Math.round(ms / 1_000));
  return seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

function forwardTone({ outcome }: Forwarded): Tone {
  return outcome.kind === 'delivered' ? 'good' : outcome.kind === 'retry' ? 'warn' : 'bad';
}

function forwardSections(forwarded: ForwardEntry): Section[] {
  const { request, answer } = forwarded;
  const said =
    answer.kind === 'status' ? [forwardStatus(forwarded), ...answer.body.split('\n')] : [forwardStatus(forwarded)];
  return [
    { title: 'Answer', lines: said, tone: forwardTone(forwarded) },
    {
      title: 'Request',
      lines: [`POST ${request.url}`, ...pairs(request.headers).map(([name, value]) => `${name}: ${value}`)],
    },
    { title: 'Body', lines: pretty(JSON.parse(request.body)) },
  ];
}

/** Sends the call to the collector again. */
function curlOfCall(event: AcceptedEvent, url = 'http://127.0.0.1:4318'): string {
  return curlCommand({
    url: `${url}/v1/${event.type}`,
    headers: [],
    user: 'dev:',
    body: JSON.stringify({ ...event, receivedAt: undefined }),
  });
}

function curlOf({ request }: Forwarded): string {
  return curlCommand({ url: request.url, headers: pairs(request.headers), body: request.body });
}

function pairs(flat: readonly string[]): Headers {
  const all: [string, string][] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) all.push([flat[at] ?? '', flat[at + 1] ?? '']);
  return all;
}

/** A refused call may be nested too deeply to be written. */
function pretty(value: unknown): string[] {
  try {
    return (JSON.stringify(value, null, 2) ?? '(nothing)').split('\n');
  } catch {
    return ['(nested too deeply to be shown)'];
  }
}
