/** Ports on loopback: the one that is asked for, the last one if it is still free, or any. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Failure } from '../output/failures.ts';

const HOST = '127.0.0.1';

/** `asked` comes from the command line and must be free; `usual` is only preferred. */
export async function choosePort(option: string, asked: number | undefined, usual: number): Promise<number> {
  const port = asked ?? usual;
  if (port !== 0 && (await isFree(port))) return port;
  if (asked === undefined || asked === 0) return freePort();
  throw new Failure(`Port ${asked} is taken by another program.`, {
    todo: `Stop that program, name another port with ${option}, or leave the option out: Millrace then takes a free one.`,
  });
}

export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, HOST);
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** `localhost` may mean ::1: a program that has the port there would get what is meant for us. */
async function isFree(port: number): Promise<boolean> {
  return (await isFreeOn(port, HOST)) && (await isFreeOn(port, '::1'));
}

async function isFreeOn(port: number, host: string): Promise<boolean> {
  const server = createServer();
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    // On a machine without IPv6 no program listens on ::1.
    return ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
  server.close();
  await once(server, 'close');
  return true;
}
