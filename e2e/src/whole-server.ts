import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts, startNatsCluster, startPostgresServer } from '@millrace/engines';
import { startServerProcess } from './server-process.ts';

export type WholeServer = AsyncDisposable & {
  collectUrl: string;
  /** Asks the control API as the owner; fails when it refuses. */
  ask<Answer>(method: string, path: string, body?: object): Promise<Answer>;
  /** A new write key of a source. When it is accepted, so is every change that was made before. */
  newWriteKey(sourceId: string): Promise<string>;
  track(writeKey: string, event: string): Promise<void>;
};

const HEARD_WITHIN_MS = 60_000;

/** All roles in one process, as a small installation runs them, with engines of their own. */
export async function startWholeServer(): Promise<WholeServer> {
  await using parts = new AsyncDisposableStack();
  const [nats, postgres, ports] = await Promise.all([
    startNatsCluster({ nodes: 1 }).then((started) => parts.use(started)),
    startPostgresServer().then((started) => parts.use(started)),
    freePorts(2),
  ]);
  const [collectUrl = '', controlUrl = ''] = ports.map((port) => `http://127.0.0.1:${port}`);
  const token = randomBytes(32).toString('hex');
  const settings = {
    MILLRACE_HOST: '127.0.0.1',
    MILLRACE_COLLECT_PORT: String(ports[0]),
    MILLRACE_CONTROL_PORT: String(ports[1]),
    MILLRACE_NATS_URL: nats.url,
    MILLRACE_DATABASE_URL: postgres.serviceUrl,
    MILLRACE_MIGRATION_DATABASE_URL: postgres.url,
    MILLRACE_KEYS: `1:${randomBytes(32).toString('base64')}`,
    MILLRACE_BOOTSTRAP_TOKEN: token,
    MILLRACE_ALLOW_CIDRS: '127.0.0.0/8',
    MILLRACE_DRAIN_MS: '0',
  };
  parts.use(await startServerProcess({ program: 'main.ts', settings, urls: [collectUrl, controlUrl] }));
  const ask = asker(controlUrl, token);
  const kept = parts.move();
  return {
    collectUrl,
    ask,
    async newWriteKey(sourceId) {
      const { key } = await ask<{ key: string }>('POST', `/sources/${sourceId}/write-keys`, {});
      await accepted(collectUrl, key);
      return key;
    },
    async track(writeKey, event) {
      const { status } = await send(collectUrl, writeKey, { userId: 'user-1', event });
      if (status !== 200) throw new Error(`the call was answered ${status}`);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function asker(controlUrl: string, token: string): WholeServer['ask'] {
  return async <Answer>(method: string, path: string, body?: object) => {
    const answer = await fetch(`${controlUrl}/api/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Answer;
  };
}

/** A call that is none tells whether the key is known, and leaves nothing behind. */
async function accepted(collectUrl: string, key: string): Promise<void> {
  const giveUpAt = Date.now() + HEARD_WITHIN_MS;
  while ((await send(collectUrl, key, {})).status === 401) {
    if (Date.now() > giveUpAt) throw new Error('the write key is still unknown');
    await sleep(20);
  }
}

async function send(collectUrl: string, key: string, call: object): Promise<Response> {
  const headers = { Authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` };
  const answer = await fetch(`${collectUrl}/v1/track`, { method: 'POST', headers, body: JSON.stringify(call) });
  await answer.arrayBuffer();
  return answer;
}
