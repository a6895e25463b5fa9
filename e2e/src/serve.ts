import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export type Served = AsyncDisposable & { url: string };

export type Respond = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** A server of the test's own on a free port, closed with its connections when the test lets go of it. */
export async function serve(respond: Respond): Promise<Served> {
  const server = createServer((incoming, outgoing) => {
    // The client sees the connection break, which none takes for an answer.
    respond(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a numeric port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
