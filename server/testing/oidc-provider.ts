/** A real OpenID provider in a process of its own, and a browser that signs in there. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ProviderClient, ProviderOrder, ProviderPeople } from './oidc-provider-process.ts';

export type TestProvider = AsyncDisposable & {
  issuer: string;
  setClients(clients: ProviderClient[]): Promise<void>;
  setPeople(people: ProviderPeople): Promise<void>;
  rotateKeys(): Promise<void>;
};

type Order = ProviderOrder extends infer Each ? (Each extends { id: number } ? Omit<Each, 'id'> : never) : never;

export async function startOidcProvider({ clockAheadMs = 0 } = {}): Promise<TestProvider> {
  const file = join(import.meta.dirname, 'oidc-provider-process.ts');
  const child = fork(file, [String(clockAheadMs)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  child.stderr?.on('data', (text: Buffer) => {
    // It warns that it keeps everything in memory.
    if (!text.toString().includes('in-memory adapter')) process.stderr.write(text);
  });
  const [{ issuer }] = (await once(child, 'message')) as [{ issuer: string }];
  let orders = 0;
  const tell = async (order: Order): Promise<void> => {
    const id = (orders += 1);
    const done = once(child, 'message');
    child.send({ ...order, id });
    const [told] = (await done) as [{ id: number }];
    if (told.id !== id) throw new Error('orders to the provider go one after the other');
  };
  return {
    issuer,
    setClients: (clients) => tell({ kind: 'clients', clients }),
    setPeople: (people) => tell({ kind: 'people', people }),
    rotateKeys: () => tell({ kind: 'rotate' }),
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/**
 * Opens the page of the provider as a browser does, signs in as a person, and follows the provider until it leads away. Returns the
 * address to which it leads.
 */
export async function signInAt(url: string, subject: string): Promise<URL> {
  const cookies = new Map<string, string>();
  const { origin } = new URL(url);
  let next = new URL(url);
  for (let step = 0; step < 10; step += 1) {
    if (next.origin !== origin) return next;
    const isForm = next.pathname.startsWith('/interaction/');
    const answer = await fetch(next, {
      method: isForm ? 'POST' : 'GET',
      redirect: 'manual',
      headers: { Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(isForm && { body: new URLSearchParams({ login: subject }) }),
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`the provider answered ${answer.status}: ${await answer.text()}`);
    next = new URL(location, next);
  }
  throw new Error('the provider leads nowhere');
}
