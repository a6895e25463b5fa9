import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const secret = process.env.WEBHOOK_SECRET ?? 'dev-secret';
const port = Number(process.env.PORT ?? 3000);

createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts);
  const expected = createHmac('sha1', secret).update(body).digest('hex');
  const given = String(request.headers['x-signature'] ?? '')
    .padEnd(expected.length)
    .slice(0, expected.length);
  const isGenuine = timingSafeEqual(Buffer.from(given), Buffer.from(expected));
  response.writeHead(isGenuine ? 200 : 401).end();
  if (isGenuine) console.log('received', JSON.parse(body).type);
}).listen(port, () => console.log(`receiver on ${port}`));
