import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { verifyBody } from '@millrace/contract';

/** The receiver's report on one POST. It keeps nothing itself. */
export type Received = {
  /** The `webhook-id`. */
  id: string;
  attempt: string;
  at: number;
  isVerified: boolean;
  /** As it was sent, not trusted unless it is verified. */
  body: string;
};

export type DemoReceiver = AsyncDisposable & { url: string };

/** A webhook receiver in a few lines, for `npm run dev`: checks the signature, answers, and reports each POST. */
export async function startDemoReceiver(
  secret: string,
  received: (delivery: Received, url: string) => void,
): Promise<DemoReceiver> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a numeric port');
  const url = `http://127.0.0.1:${address.port}/demo`;
  server.on('request', (request, response) => {
    receive(request, secret).then(
      (delivery) => {
        response.writeHead(delivery.isVerified ? 200 : 401).end();
        received(delivery, url);
      },
      () => response.destroy(),
    );
  });
  return {
    url,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function receive(request: IncomingMessage, secret: string): Promise<Received> {
  const { headers } = request;
  const at = Date.now();
  const body = await text(request);
  const isVerified = verifyBody(secret, body, headerText(headers['x-signature']));
  const attempt = headerText(headers['x-millrace-attempt']);
  return { id: headerText(headers['webhook-id']), attempt, at, isVerified, body };
}

function headerText(value: string | string[] | undefined): string {
  return typeof value === 'string' ? value : '';
}
