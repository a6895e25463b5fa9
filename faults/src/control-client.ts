import type { LimitUse } from '@millrace/contract/control';
import type { Source } from './sources.ts';
import { waitUntil } from './wait-until.ts';

/** The parts of control's answers that the faults judge; status 0 means no answer. */
export type ControlAnswer = {
  path: string;
  askedAt: number;
  answeredAt: number;
  status: number;
  hasRetryAfter: boolean;
  body: ControlBody;
};
export type ControlBody = {
  id?: string;
  /** Of an invitation. */
  token?: string;
  code?: string;
  title?: string;
  writeKeys?: { id: string; key: string }[];
  items?: { id: string; name: string }[];
  limits?: LimitUse[];
};

export type KeyedSource = Source & { keyId: string };

export type ControlClient = {
  url: string;
  ask(method: string, path: string, body?: object): Promise<ControlAnswer>;
  /** Begins an answer that goes on until the signal. */
  open(path: string, signal: AbortSignal): Promise<Response>;
  /** The following ask again until control agrees, and resolve with the moment it did. */
  createSource(name: string): Promise<{ source: KeyedSource; at: number }>;
  disableSource(source: KeyedSource): Promise<number>;
  revokeKey(source: KeyedSource): Promise<number>;
};

const SOURCES_PATH = '/api/v1/sources';
const ANSWER_WITHIN_MS = 5_000;
const AGREE_WITHIN_MS = 15_000;

export function controlClient(url: string, token: string): ControlClient {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };

  async function ask(method: string, path: string, body?: object): Promise<ControlAnswer> {
    const askedAt = performance.now();
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    try {
      const answer = await fetch(url + path, { method, headers, signal, ...sent });
      const text = await answer.text();
      const answered = { path, askedAt, answeredAt: performance.now(), status: answer.status };
      return { ...answered, hasRetryAfter: answer.headers.has('Retry-After'), body: readBody(text) };
    } catch {
      return { path, askedAt, answeredAt: performance.now(), status: 0, hasRetryAfter: false, body: {} };
    }
  }

  async function insist(method: string, path: string, body?: object): Promise<ControlAnswer> {
    let answer = await ask(method, path, body);
    await waitUntil(`${method} ${path} is agreed to`, AGREE_WITHIN_MS, async () => {
      if (answer.status === 503) answer = await ask(method, path, body);
      return answer.status !== 503;
    });
    if (answer.status < 200 || answer.status > 299) throw new Error(`${method} ${path} was answered ${answer.status}`);
    return answer;
  }

  return {
    url,
    ask,
    open: (path, signal) => fetch(url + path, { headers, signal }),
    async createSource(name) {
      const { body, answeredAt } = await insist('POST', SOURCES_PATH, { name });
      const [key] = body.writeKeys ?? [];
      if (body.id === undefined || key === undefined) throw new Error('a new source came without an id or a key');
      return { source: { id: body.id, keyId: key.id, writeKey: key.key }, at: answeredAt };
    },
    disableSource: async ({ id }) => (await insist('PATCH', `${SOURCES_PATH}/${id}`, { enabled: false })).answeredAt,
    revokeKey: async ({ id, keyId }) =>
      (await insist('DELETE', `${SOURCES_PATH}/${id}/write-keys/${keyId}`)).answeredAt,
  };
}

function readBody(text: string): ControlBody {
  return text === '' ? {} : JSON.parse(text);
}
