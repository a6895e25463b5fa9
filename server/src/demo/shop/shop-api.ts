/** Both APIs over HTTP, as the people and programs of the shop use them. The demo asks no other server than its own. */

export type Ask = <T = Record<string, unknown>>(method: string, path: string, body?: object) => Promise<T>;

/** A session and the function that asks with it. */
export type Session = { ask: Ask; signOut(): Promise<void> };

export type ApiUrls = {
  /** Without a path: `http://127.0.0.1:8081`. */
  controlUrl: string;
  collectUrl: string;
};

const MOST_ANSWER_MS = 30_000;

export function askWithToken(controlUrl: string, token: string): Ask {
  return askWith(controlUrl, { Authorization: `Bearer ${token}` });
}

/** Signs in: `path` is that of the session, or of an invitation. Undefined when the password is no longer that of the demo. */
export async function signIn(controlUrl: string, path: string, body: object): Promise<Session | undefined> {
  const answer = await request(`${controlUrl}/api/v1${path}`, { method: 'POST', body });
  if (answer.status === 401) return undefined;
  await mustBeGood(answer, `POST ${path}`);
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const ask = askWith(controlUrl, { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin', 'Millrace-Csrf': '1' });
  return { ask, signOut: async () => void (await ask('DELETE', '/session')) };
}

/** Sends the calls as one batch and resolves with the status of the answer. */
export async function sendBatch(collectUrl: string, writeKey: string, batch: readonly object[]): Promise<number> {
  const headers = { Authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}` };
  const body = { batch, sentAt: new Date().toISOString() };
  const answer = await request(`${collectUrl}/v1/batch`, { method: 'POST', headers, body });
  await answer.arrayBuffer();
  return answer.status;
}

function askWith(controlUrl: string, headers: Record<string, string>): Ask {
  return async <T>(method: string, path: string, body?: object): Promise<T> => {
    const answer = await request(`${controlUrl}/api/v1${path}`, { method, headers, ...(body && { body }) });
    const text = await mustBeGood(answer, `${method} ${path}`);
    return (text === '' ? {} : JSON.parse(text)) as T;
  };
}

async function mustBeGood(answer: Response, what: string): Promise<string> {
  const text = await answer.text();
  if (answer.status >= 300) throw new Error(`the demo could not ${what}: ${answer.status} ${text}`);
  return text;
}

type Asked = { method: string; headers?: Record<string, string>; body?: object };

function request(url: string, { method, headers = {}, body }: Asked): Promise<Response> {
  return fetch(url, {
    method,
    headers: { ...headers, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(MOST_ANSWER_MS),
  });
}
