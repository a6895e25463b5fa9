// Run it: WEBHOOK_SECRET='…' PORT=8000 node receiver.js
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { WEBHOOK_SECRET: secret = '', PORT: port = '8000' } = process.env;
if (secret === '') throw new Error('WEBHOOK_SECRET is not set');

const MAX_BODY_BYTES = 512_000;
const TOLERANCE_SECONDS = 300;

// Keep the check that you use and take out the other one.
const checks = new Map([
  ['/webhooks', hasWebhookSignature],
  ['/webhooks-sha1', hasXSignature],
]);

// In a real receiver: a table with a unique key. This set is forgotten when the program ends.
const seen = new Set();

/** HMAC-SHA256 over id, time and body. There are two signatures while a secret is being replaced. */
function hasWebhookSignature(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': sentAt, 'webhook-signature': signatures = '' } = headers;
  const isRecent = Math.abs(Date.now() / 1000 - Number(sentAt)) <= TOLERANCE_SECONDS;
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : secret;
  const digest = createHmac('sha256', key).update(`${id}.${sentAt}.`).update(body).digest('base64');
  return isRecent && signatures.split(' ').some((signature) => isSame(signature, `v1,${digest}`));
}

/** HMAC-SHA1 over the body alone. */
function hasXSignature(headers, body) {
  return isSame(headers['x-signature'] ?? '', createHmac('sha1', secret).update(body).digest('hex'));
}

function isSame(given, expected) {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The bytes as they came, or undefined when there are too many. */
async function readBody(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return length <= MAX_BODY_BYTES ? Buffer.concat(chunks) : undefined;
}

/** The status to answer with. */
async function receive(request) {
  const isGenuine = checks.get(request.url);
  if (isGenuine === undefined) return 404;
  if (request.method !== 'POST') return 405;
  const body = await readBody(request);
  if (body === undefined) return 413;
  if (!isGenuine(request.headers, body)) return 401;
  const id = request.headers['webhook-id'];
  if (!seen.has(id)) {
    seen.add(id);
    setImmediate(work, id, JSON.parse(body));
  }
  return 200;
}

/** Runs after the answer: it may take its time. */
function work(id, event) {
  console.log(`${id} ${event.type}`);
}

const server = createServer((request, response) => {
  receive(request).then(
    (status) => response.writeHead(status).end(),
    () => response.destroy(),
  );
});
server.listen(Number(port), '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
