import type { Problem, Refusal, RequestShape } from '@millrace/contract';
import type { Metrics } from '../metrics/open-metrics.ts';
import type { About, Fields, TailEntry } from '../stream/signals/tail-entry.ts';
import type { TailWriter } from '../stream/signals/tail-writer.ts';
import { callsOf } from './hide-key.ts';

export type Watched = {
  sourceId: string;
  writeKey: string;
  /** Undefined when no tail listened as it came. */
  body: unknown;
  shape: RequestShape;
  /** Places of calls that must not be shown, because their user is suppressed. */
  hidden: readonly number[];
};

/** Counts calls for the metrics, and shows them to the tail. */
export type CallWatch = {
  stored(watched: Watched, what: { accepted: number; refused: readonly Refusal[]; at: string }): void;
  /** All of it was refused. */
  refused(watched: Watched, what: { problem: Problem; refused: readonly Refusal[] }): void;
  /** A known source was told to come back later. */
  shed(why: keyof typeof SHED_CODES, sourceId?: string): void;
  /** Whether a tail listens: only then the parsed body is worth its memory while NATS stores it. */
  isShown(sourceId: string): boolean;
  answered(status: number, code: string | undefined): void;
  appended(seconds: number): void;
};

/** Larger calls are shown without their content. */
const MAX_SHOWN_BYTES = 8_192;
const SHED_CODES = {
  engine: 'unavailable',
  memory: 'unavailable',
  rate_limit: 'rate_limited',
  workspace_limit: 'rate_limited',
  address_limit: 'rate_limited',
} as const;
const SHED_MESSAGE = 'A whole request was told to come back later.';

export type CallWatchNeeds = { metrics: Metrics; tail: TailWriter; nowMs(): number };

type RefusedCall = Pick<Refusal, 'index'> & { code: string; message: string };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openCallWatch({ metrics, tail, nowMs }: CallWatchNeeds): CallWatch {
  const accepted = metrics.counter('millrace_calls_accepted_total');
  const refusedBy = metrics.counters('millrace_calls_refused_total');
  const byStatus = metrics.counters('millrace_collect_requests_total');
  const byCode = metrics.counters('millrace_requests_refused_total');
  const shedBy = metrics.counters('millrace_requests_shed_total');
  const overLimit = metrics.counters('millrace_limit_refusals_total')('callsPerSecond');
  const append = metrics.histogram('millrace_append_seconds');

  function showStored(watched: Watched, refused: readonly Refusal[], at: string): void {
    const { sourceId, shape, writeKey } = watched;
    const left = leftOutOf(watched, refused);
    for (const [index, call] of callsIn(watched).entries()) {
      if (left?.has(index) === true || !takes(watched, call)) continue;
      tail.send(sourceId, acceptedText({ at, kind: 'accepted', ...aboutOf(call, shape) }, call, writeKey));
    }
    if (refused.length > 0) showRefused(watched, refused);
  }

  function showRefused(watched: Watched, refused: readonly RefusedCall[]): void {
    const calls = callsIn(watched);
    for (const { index, code, message } of refused) {
      const call = calls[index];
      if (watched.hidden.includes(index) || !takes(watched, call)) continue;
      const at = new Date(nowMs()).toISOString();
      const about = aboutOf(call, watched.shape);
      tail.send(watched.sourceId, entryText({ at, kind: 'refused', ...about, code, message }));
    }
  }

  function takes({ sourceId, shape }: Watched, call: unknown): boolean {
    const fields: { type?: unknown } & Fields = typeof call === 'object' && call !== null ? call : {};
    return tail.takes(sourceId, shape === 'batch' ? fields.type : shape, fields);
  }

  return {
    stored(watched, { accepted: count, refused, at }) {
      accepted.add(count);
      for (const { code } of refused) refusedBy(code).add();
      if (watched.body !== undefined && tail.isWanted(watched.sourceId)) showStored(watched, refused, at);
    },
    refused(watched, { problem, refused }) {
      const all = refused.length > 0 ? refused : [{ index: 0, ...problem }];
      for (const { code } of all) refusedBy(code).add();
      if (tail.isWanted(watched.sourceId)) showRefused(watched, all);
    },
    shed(why, sourceId) {
      shedBy(why).add();
      if (why === 'workspace_limit') overLimit.add();
      if (sourceId === undefined || !tail.isWanted(sourceId)) return;
      if (!tail.takes(sourceId, undefined, {})) return;
      const at = new Date(nowMs()).toISOString();
      tail.send(sourceId, entryText({ at, kind: 'refused', code: SHED_CODES[why], message: SHED_MESSAGE }));
    },
    isShown: (sourceId) => tail.isWanted(sourceId),
    answered(status, code) {
      byStatus(String(status)).add();
      if (code !== undefined) byCode(code).add();
    },
    appended: append.observe,
  };
}

/** Places of calls that are not shown as accepted; undefined for none, as almost always. */
function leftOutOf({ hidden }: Watched, refused: readonly Refusal[]): Set<number> | undefined {
  if (hidden.length === 0 && refused.length === 0) return undefined;
  return new Set([...hidden, ...refused.map(({ index }) => index)]);
}

function callsIn({ body, shape }: Watched): readonly unknown[] {
  return shape === 'batch' ? callsOf(body, shape) : [body];
}

const MAX_TEXT = 1_000;

/** The call may be unchecked or refused: only fields that can be shown as they are. */
function aboutOf(call: unknown, shape: RequestShape): About {
  if (typeof call !== 'object' || call === null) return {};
  const fields = call as Record<string, unknown>;
  const about: About = {};
  const type = shape === 'batch' ? fields['type'] : shape;
  const name = fields['event'] ?? fields['name'];
  if (isShort(type)) about.type = type;
  if (isShort(name)) about.name = name;
  for (const id of ['messageId', 'userId', 'anonymousId'] as const) {
    const value = fields[id];
    if (isShort(value)) about[id] = value;
    else if (typeof value === 'number') about[id] = String(value);
  }
  return about;
}

function isShort(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_TEXT;
}

function entryText(entry: TailEntry): string {
  return JSON.stringify(entry);
}

/** With the content of the call, whose depth is known to be small. The write key is never shown. */
function acceptedText(entry: TailEntry, call: unknown, writeKey: string): string {
  const text = JSON.stringify(call);
  if (text.length > MAX_SHOWN_BYTES) return entryText(entry);
  const hasKey = text.includes('"writeKey"') || text.includes(JSON.stringify(writeKey));
  return `${entryText(entry).slice(0, -1)},"call":${hasKey ? withoutKey(call, writeKey) : text}}`;
}

function withoutKey(call: unknown, writeKey: string): string {
  return JSON.stringify(call, (name, value: unknown) => {
    if (name === 'writeKey') return undefined;
    return value === writeKey ? '***' : value;
  });
}
