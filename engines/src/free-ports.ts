import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/**
 * Below the ephemeral ports: the system cannot give one to another process between our finding and our using it.
 * None of these is refused to a webhook. Processes that look at the same time start in different places.
 */
const FIRST = 16_000;
const COUNT = 10_000;
let place = randomInt(COUNT);

/** Ports without a listener right now that no other call in this process was given lately. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let looks = 0; ports.length < count && looks < COUNT; looks += 1) {
    const port = FIRST + place;
    place = (place + 1) % COUNT;
    if (await isFree(port)) ports.push(port);
  }
  if (ports.length < count) throw new Error(`no ${count} ports are free`);
  return ports;
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
