// Run it: npm install express, then WEBHOOK_SECRET='…' PORT=8000 node express-receiver.js
import crypto from 'node:crypto';
import express from 'express';

const { WEBHOOK_SECRET: secret = '', PORT: port = '8000' } = process.env;
if (secret === '') throw new Error('WEBHOOK_SECRET is not set');

// In a real receiver: a table with a unique key. This set is forgotten when the program ends.
const seen = new Set();

const app = express();
app.use(express.json({ limit: '512kb' }));

app.post('/webhooks-sha1', (req, res) => {
  if (req.body === undefined) return res.sendStatus(415);
  const digest = crypto.createHmac('sha1', secret).update(JSON.stringify(req.body)).digest('hex');
  if (!isSame(req.get('X-Signature') ?? '', digest)) return res.sendStatus(401);
  res.sendStatus(200);
  const id = req.get('webhook-id');
  if (seen.has(id)) return;
  seen.add(id);
  setImmediate(work, id, req.body);
});

function isSame(given, expected) {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && crypto.timingSafeEqual(a, b);
}

/** Runs after the answer: it may take its time. */
function work(id, event) {
  console.log(`${id} ${event.type}`);
}

const server = app.listen(Number(port), '127.0.0.1', () => console.log(`listening on ${server.address().port}`));
