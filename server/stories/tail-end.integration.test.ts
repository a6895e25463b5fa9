/** How long a live tail goes on, over the real roles and engines. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { openReceiver } from '../testing/receiver.ts';
import { addScene, openStack, type Scene, type Stack } from '../testing/stack.ts';
import { until } from '../testing/until.ts';
import { track } from '../testing/samples.ts';

/** Asked every 5 seconds, and a little for a busy machine. */
const ENDS_WITHIN_MS = 9_000;
const PASSWORD = 'a password of some length';

let stack: Stack;
let receiver: Awaited<ReturnType<typeof openReceiver>>;
let scene: Scene;
const opened = new AsyncDisposableStack();
before(async () => {
  stack = opened.use(await openStack());
  receiver = opened.use(await openReceiver());
  scene = await addScene(stack, receiver.url);
});
after(() => opened.disposeAsync());

type Headers = Record<string, string>;
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });

/** The text that came so far, with the time of each part. */
async function view(headers: Headers, sourceId = scene.sourceId) {
  const ending = new AbortController();
  const answer = await fetch(`${stack.controlUrl()}/sources/${sourceId}/tail`, {
    headers,
    signal: ending.signal,
  });
  assert.equal(answer.status, 200);
  const parts: { text: string; at: number }[] = [];
  const reading = read(answer.body, parts);
  return {
    parts,
    text: () => parts.map(({ text }) => text).join(''),
    /** Resolves with the last event when the server has ended it. */
    async ended(): Promise<string> {
      await reading;
      return parts.at(-1)?.text ?? '';
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await reading;
    },
  };
}

async function read(body: ReadableStream<Uint8Array> | null, parts: { text: string; at: number }[]): Promise<void> {
  try {
    for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? [])
      parts.push({ text, at: performance.now() });
  } catch {
    // We left.
  }
}

async function newToken(change: object = {}): Promise<{ id: string; token: string }> {
  return stack.get('POST', '/tokens', { name: 'viewer', role: 'viewer', ...change });
}

/** Signs a member in, and gives the headers that their browser would send. */
async function signIn(email: string): Promise<Headers> {
  const answer = await fetch(`${stack.controlUrl()}/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email, password: PASSWORD }),
  });
  assert.equal(answer.status, 204, await answer.text());
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? assert.fail('no cookie');
  return { Cookie: cookie, 'Millrace-Csrf': '1', 'Sec-Fetch-Site': 'same-origin' };
}

async function addPerson(email: string): Promise<string> {
  const { token } = await stack.get<{ token: string }>('POST', '/invitations', { email, role: 'viewer' });
  const accept = { token, name: 'A person', password: PASSWORD };
  const { user } = await stack.get<{ user: { id: string } }>('POST', '/invitations/accept', accept);
  return user.id;
}

const asPerson = async (method: string, path: string, headers: Headers) => {
  const answer = await fetch(`${stack.controlUrl()}${path}`, { method, headers });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.status === 204 ? undefined : answer.json();
};

/** Whether the stream ends, with this code, soon after something was done. */
async function endsAfter(
  viewer: Awaited<ReturnType<typeof view>>,
  done: () => Promise<unknown>,
  code = 'not_signed_in',
) {
  await done();
  const doneAt = performance.now();
  assert.match(await viewer.ended(), new RegExp(`"code":"${code}"`));
  assert.ok(performance.now() - doneAt < ENDS_WITHIN_MS);
}

// They wait most of the time, so they do it together.
suite('a live tail', { concurrency: true }, () => {
  test('sends a heartbeat when nothing else happened for 15 seconds, and goes on', async () => {
    const { sourceId, writeKey } = scene;
    await using viewer = await view(bearer((await newToken()).token));
    await until(() => viewer.text().includes('still here'));
    const [open, beat] = viewer.parts;
    const quietMs = (beat?.at ?? 0) - (open?.at ?? 0);
    assert.equal(beat?.text, ': still here\n\n', 'a comment, which readers of events pass over');
    assert.ok(quietMs > 10_000 && quietMs < 20_000, `${quietMs} ms`);
    assert.ok(open?.text.includes(sourceId));
    await stack.send(writeKey, [track('after the heartbeat')]);
    await until(() => viewer.text().includes('after the heartbeat'));
  });

  test('ends when its token is deleted', async () => {
    const { id, token } = await newToken();
    await using viewer = await view(bearer(token));
    await endsAfter(viewer, () => stack.get('DELETE', `/tokens/${id}`));
  });

  test('ends when the time of its token is over', async () => {
    const expiresAt = new Date(Date.now() + 8_000).toISOString();
    const { token } = await newToken({ expiresAt });
    await using viewer = await view(bearer(token));
    await endsAfter(viewer, () => until(() => Date.now() > Date.parse(expiresAt)));
  });

  test('ends when its session is left', async () => {
    await addPerson('leaver@example.com');
    const session = await signIn('leaver@example.com');
    await using viewer = await view(session);
    await endsAfter(viewer, () => asPerson('DELETE', '/session', session));
  });

  test('ends when its session is revoked from another one, which goes on', async () => {
    await addPerson('two@example.com');
    const [one, other] = [await signIn('two@example.com'), await signIn('two@example.com')];
    await using viewer = await view(one);
    await using stays = await view(other);
    await endsAfter(viewer, () => asPerson('POST', '/sessions/revoke-others', other));
    assert.ok(!stays.text().includes('"end"'));
  });

  test('ends when its session has been idle for too long: looking on is no use of it', async () => {
    const userId = await addPerson('idle@example.com');
    await using viewer = await view(await signIn('idle@example.com'));
    const sql = `UPDATE sessions SET last_seen_at = now() - interval '13 hours' WHERE user_id = $1`;
    await endsAfter(viewer, () => stack.sql(sql, [userId]));
  });

  test('ends when its viewer is no member any more', async () => {
    const userId = await addPerson('removed@example.com');
    await using viewer = await view(await signIn('removed@example.com'));
    await endsAfter(viewer, () => stack.get('DELETE', `/members/${userId}`), '(not_signed_in|not_found|not_allowed)');
  });

  test('does not show the calls of a suppressed user', async () => {
    const own = await addScene(stack, receiver.url);
    const asked = { userIds: ['unseen'], sources: [own.sourceId], suppress: true };
    await stack.get('POST', '/deletion-requests', asked);
    type Dropped = { items: { sourceId: string }[] };
    await until(async () => {
      await stack.send(own.writeKey, [
        track('until it is heard', { userId: 'unseen', messageId: crypto.randomUUID() }),
      ]);
      const { items } = await stack.get<Dropped>('GET', '/suppressions/calls');
      return items.some(({ sourceId }) => sourceId === own.sourceId);
    });
    await using viewer = await view(bearer((await newToken()).token), own.sourceId);
    await until(() => viewer.parts.length > 0);
    const refused = ['unseen', 'somebody'].map((userId) => ({ type: 'track', userId }));
    await stack.send(own.writeKey, [track('of theirs', { userId: 'unseen' }), track('of others'), ...refused]);
    await until(() => viewer.text().includes('"of others"') && viewer.text().includes('event_not_defined'));
    assert.ok(viewer.text().includes('somebody'), viewer.text());
    assert.doesNotMatch(viewer.text(), /unseen|of theirs/);
  });
});
