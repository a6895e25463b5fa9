/**
 * The bare twin of collect: reads the body, parses it, writes it to JetStream as one message, waits for the
 * acknowledgement, answers 200. Nothing is checked. `mux` awaits all acknowledgements on one subscription, as we do;
 * `js` is the client library's own publish.
 */
import { createServer } from 'node:http';
import { jetstream } from '@nats-io/jetstream';
import { headers, nuid } from '@nats-io/nats-core';
import { connect, type NatsConnection } from '@nats-io/transport-node';

const [url = '', port = '', kind = 'mux'] = process.argv.slice(2);
const nc = await connect({ servers: url.split(','), noAsyncTraces: true });
const publish = kind === 'js' ? libraryPublish(nc) : muxedPublish(nc);

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    const parsed: unknown = JSON.parse(body.toString());
    if (parsed === null) throw new Error('the body is an object');
    void publish(body).then(() => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 16 });
      response.end('{"success":true}');
    });
  });
});
process.once('SIGINT', () => process.exit(0));
server.listen(Number(port), '127.0.0.1');

function libraryPublish(connection: NatsConnection): (body: Buffer) => Promise<unknown> {
  const js = jetstream(connection, { timeout: 20_000 });
  return (body) => js.publish('events.0.twin', body, { msgID: nuid.next() });
}

function muxedPublish(connection: NatsConnection): (body: Buffer) => Promise<void> {
  const inbox = `_INBOX.${nuid.next()}`;
  const waiting = new Map<string, () => void>();
  let count = 0;
  connection.subscribe(`${inbox}.*`, {
    callback(_error, message) {
      const ack: { seq?: number } = message.json();
      if (ack.seq === undefined) throw new Error(message.string());
      waiting.get(message.subject)?.();
      waiting.delete(message.subject);
    },
  });
  return (body) =>
    new Promise((resolve) => {
      count += 1;
      const reply = `${inbox}.${count}`;
      waiting.set(reply, resolve);
      const head = headers();
      head.set('Nats-Msg-Id', nuid.next());
      connection.publish('events.0.twin', body, { reply, headers: head });
    });
}
