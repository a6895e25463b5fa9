/** The parts that scenes of peers have in common: a folder, a database, programs that end with the scene. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PostgresServer, startPostgresServer } from '@millrace/engines';
import { postmasterOf } from '../sizing/installation.ts';
import type { Child } from './child.ts';

export type PeerScene = AsyncDisposable & {
  dir: string;
  /** Its database, as the superuser. */
  databaseUrl: string;
  postgres: PostgresServer;
  /** Ends with the scene, and counts as a part of the system. */
  use<T extends Child>(program: T): T;
  pids(): number[];
};

export async function openPeerScene(name: string): Promise<PeerScene> {
  await using opening = new AsyncDisposableStack();
  const dir = mkdtempSync(join(tmpdir(), `millrace-peers-${name}-`));
  chmodSync(dir, 0o755);
  opening.defer(() => rmSync(dir, { recursive: true, force: true }));
  const postgres = opening.use(await startPostgresServer({ options: '-c fsync=on -c max_connections=300' }));
  postgres.run(`CREATE DATABASE ${name}`);
  const databaseUrl = postgres.adminUrl.replace(/\/[^/]*$/, `/${name}`);
  const programs: Child[] = [];
  const open = opening.move();
  return {
    dir,
    databaseUrl,
    postgres,
    use(program) {
      programs.push(program);
      return open.use(program);
    },
    pids: () => [postmasterOf(postgres), ...programs.map((program) => program.pid() ?? 0)],
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

export type Api = { url: string; token: string };

/** Fails unless the answer is a success. */
export async function ask<T>({ url, token }: Api, method: string, path: string, body: object): Promise<T> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const answer = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
  return (text === '' ? {} : JSON.parse(text)) as T;
}
