import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { verifyWebhookBatch, WebhookVerificationError } from '@millrace/node';

const secret = process.env.MILLRACE_SHARED_SECRET;
// In a real receiver: a table with a unique key. This set is forgotten when the program ends.
const seen = new Set();

/** The status to answer with. All events of the batch are kept before it. */
async function receive(request) {
  const events = verifyWebhookBatch(await buffer(request), request.headers, secret);
  for (const { id, event } of events) {
    if (seen.has(id)) continue;
    seen.add(id);
    console.log(id, event.type);
  }
  return 200;
}

createServer((request, response) => {
  receive(request).then(
    (status) => response.writeHead(status).end(),
    (error) => response.writeHead(error instanceof WebhookVerificationError ? 401 : 503).end(),
  );
}).listen(process.env.PORT ?? 3001);
