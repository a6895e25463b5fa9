import { Millrace } from '@millrace/node';
import express from 'express';

const millrace = new Millrace(process.env.MILLRACE_WRITE_KEY, { endpoint: process.env.MILLRACE_ENDPOINT });
const app = express();

app.get('/orders/:id', (request, response) => {
  millrace.track({ userId: 'user-1', event: 'Order Viewed', properties: { id: request.params.id } });
  response.send('ok');
});

const server = app.listen(process.env.PORT ?? 3000);

// Requests that are under way may still make calls, so they come first.
process.once('SIGTERM', () => {
  server.close(async () => {
    await millrace.close();
    process.exit();
  });
});
