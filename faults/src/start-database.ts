import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { NetHost } from '@millrace/engines';
import { forkOn } from './fork-on.ts';
import type { DatabaseOrder } from './inject/database-process.ts';

export type Database = AsyncDisposable & {
  /** Of the login that owns the tables, and of the service. */
  url: string;
  serviceUrl: string;
  /** As a power cut would; resolves when it is gone. */
  stop(): Promise<void>;
  /** The same without a farewell: it touches no file after this. */
  kill(): Promise<void>;
  /** Resolves when it takes connections again. */
  start(): Promise<void>;
  /** The same for one that may be running. */
  revive(): Promise<void>;
  /** Runs statements as the superuser; resolves when they are done. */
  run(sql: string): Promise<void>;
};

export type DatabaseOptions = {
  /** Where its data is, if not with all temporary files. */
  dir?: string;
  /** Of its command line. */
  options?: string;
  /** The host that it runs on, if not the usual one. */
  host?: NetHost | undefined;
};

/** A PostgreSQL that faults may stop and kill. */
export async function startDatabase({ dir = '', options = '', host }: DatabaseOptions = {}): Promise<Database> {
  const args = [options, dir, ...(host === undefined ? [] : [host.address])];
  const child = forkOn(host, join(import.meta.dirname, 'inject/database-process.ts'), args);
  const urls = JSON.parse(await nextWord(child)) as Pick<Database, 'url' | 'serviceUrl'>;
  const tell = async (order: DatabaseOrder) => {
    const done = nextWord(child);
    child.send(order);
    await done;
  };
  return {
    ...urls,
    stop: () => tell('stop'),
    kill: () => tell('kill'),
    start: () => tell('start'),
    revive: () => tell('revive'),
    run: (sql) => tell({ sql }),
    async [Symbol.asyncDispose]() {
      if (!child.connected) return;
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}

function nextWord(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error(`the process that holds PostgreSQL ended with ${child.exitCode}`));
    child.once('exit', ended);
    child.once('message', (word: string) => {
      child.off('exit', ended);
      resolve(word);
    });
  });
}
