import { randomInt } from 'node:crypto';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Below the ephemeral ports: the system cannot give one to another process between our finding and our using it.
 * None of these is refused to a webhook. Processes start their search in different places, so they seldom meet.
 */
const FIRST = 16_000;
const COUNT = 10_000;
let place = randomInt(COUNT);

/** One file for each port that a process was given: a server that a test restarts finds its port still free. */
const CLAIMS = join(tmpdir(), `millrace-ports-${process.getuid?.() ?? 0}`);
const claimed = new Set<string>();
/** A process that was killed leaves its claims behind, and no test runs for so long. */
const STALE_MS = 3 * 3_600_000;

/** Ports without a listener right now, each claimed by this process until it exits. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let looks = 0; ports.length < count && looks < COUNT; looks += 1) {
    const port = FIRST + place;
    place = (place + 1) % COUNT;
    if (claimPort(port) && (await isFree(port))) ports.push(port);
  }
  if (ports.length < count) throw new Error(`no ${count} ports are free`);
  return ports;
}

/** False when another process has it, or another call in this one. */
export function claimPort(port: number): boolean {
  const file = join(CLAIMS, String(port));
  if (claimed.has(file)) return false;
  try {
    mkdirSync(CLAIMS, { recursive: true });
    if (isStale(file)) rmSync(file, { force: true });
    writeFileSync(file, String(process.pid), { flag: 'wx' });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
  if (claimed.size === 0) process.once('exit', giveBack);
  claimed.add(file);
  return true;
}

function isStale(file: string): boolean {
  const { mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? {};
  return mtimeMs !== undefined && Date.now() - mtimeMs > STALE_MS;
}

function giveBack(): void {
  for (const file of claimed) rmSync(file, { force: true });
}

async function isFree(port: number): Promise<boolean> {
  const server = await listenOn(port);
  if (server === undefined) return false;
  await new Promise((closed) => server.close(closed));
  return true;
}

function listenOn(port: number): Promise<Server | undefined> {
  return new Promise((listening, failed) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? listening(undefined) : failed(error),
    );
    server.listen(port, '127.0.0.1', () => listening(server));
  });
}
