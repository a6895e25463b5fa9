import { Millrace } from '@millrace/node';
import Fastify from 'fastify';

const millrace = new Millrace(process.env.MILLRACE_WRITE_KEY, { endpoint: process.env.MILLRACE_ENDPOINT });
const fastify = Fastify();

fastify.get('/orders/:id', (request, reply) => {
  millrace.track({ userId: 'user-1', event: 'Order Viewed', properties: { id: request.params.id } });
  reply.send('ok');
});
fastify.addHook('onClose', () => millrace.close());

await fastify.listen({ port: Number(process.env.PORT ?? 3000) });
process.once('SIGTERM', async () => {
  await fastify.close();
  process.exit();
});
