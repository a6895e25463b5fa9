/** A real OpenID provider in a process of its own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ROOT_DIR } from '@millrace/engines';

export type OpenidProvider = AsyncDisposable & { issuer: string; tell(order: object): Promise<void> };

export async function startOpenidProvider(): Promise<OpenidProvider> {
  const file = join(ROOT_DIR, 'server/testing/oidc-provider-process.ts');
  const child = fork(file, [], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  const [{ issuer }] = (await once(child, 'message')) as [{ issuer: string }];
  return {
    issuer,
    async tell(order) {
      const done = once(child, 'message');
      child.send({ ...order, id: 1 });
      await done;
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
