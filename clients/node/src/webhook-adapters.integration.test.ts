import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { suite, test } from 'node:test';
import express from 'express';
import Fastify from 'fastify';
import { signBody, signStandardWebhook } from '../../../contract/src/signature.ts';
import { fastifyWebhooks, receiveWebhooks, verifyRequest, verifyRequestBatch, type WebhookEvent } from './index.ts';

const SECRET = 's3cr3t';
const BODY =
  '{"version":1,"type":"track","userId":"u1","event":"Größe 😀","properties":{"n":1},"timestamp":"t","context":{}}';

const itemOf = (id: string, attempt: number, order: string) =>
  `{"id":"${id}","attempt":${attempt},"order":"${order}","body":${BODY}}`;
const BATCH = `{"version":1,"type":"batch","events":[${itemOf('dlv_7', 1, '7')},${itemOf('dlv_8', 2, '8')}]}`;

type Receiver = AsyncDisposable & { url: string; events: [WebhookEvent, string][] };
type OnEvent = (event: WebhookEvent, id: string) => void;

function signedHeaders(body: string): Record<string, string> {
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  return {
    'Content-Type': 'application/json',
    'X-Signature': signBody(SECRET, body),
    'webhook-id': 'dlv_1',
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signStandardWebhook([SECRET], { id: 'dlv_1', timestampSeconds, body }),
  };
}

async function listening(server: Server, events: Receiver['events']): Promise<Receiver> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return {
    url: `http://127.0.0.1:${port}/webhooks`,
    events,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

const receivers: Record<string, (onEvent: OnEvent) => Promise<Server>> = {
  'node:http': async (onEvent) => createServer(receiveWebhooks({ secret: SECRET, onEvent, maxBodyBytes: 10_000 })),
  Express: async (onEvent) =>
    createServer(express().post('/webhooks', receiveWebhooks({ secret: SECRET, onEvent, maxBodyBytes: 10_000 }))),
  'Express with express.json() before it': async (onEvent) =>
    createServer(
      express()
        .use(express.json({ limit: 10_000 }))
        .post('/webhooks', receiveWebhooks({ secret: SECRET, onEvent })),
    ),
  'Express with express.raw() before it': async (onEvent) =>
    createServer(
      express()
        .use(express.raw({ type: '*/*', limit: 10_000 }))
        .post('/webhooks', receiveWebhooks({ secret: SECRET, onEvent })),
    ),
  Fastify: async (onEvent) => {
    const fastify = Fastify();
    await fastify.register(fastifyWebhooks, { path: '/webhooks', secret: SECRET, onEvent, maxBodyBytes: 10_000 });
    await fastify.ready();
    return fastify.server;
  },
};

for (const [name, make] of Object.entries(receivers)) {
  suite(`webhooks received with ${name}`, () => {
    const open = async () => {
      const events: Receiver['events'] = [];
      const server = await make((event, id) => {
        if (event.type === 'track' && event.event === 'Trouble') throw new Error('the test asks for trouble');
        events.push([event, id]);
      });
      return listening(server, events);
    };

    test('a signed one reaches the application with its id', async () => {
      await using receiver = await open();
      const response = await fetch(receiver.url, { method: 'POST', headers: signedHeaders(BODY), body: BODY });
      assert.equal(response.status, 200);
      assert.deepEqual(receiver.events, [[JSON.parse(BODY), 'dlv_1']]);
    });

    test('the events of a batch reach it one after the other, each with its own id', async () => {
      await using receiver = await open();
      const response = await fetch(receiver.url, { method: 'POST', headers: signedHeaders(BATCH), body: BATCH });
      assert.equal(response.status, 200);
      const event = JSON.parse(BODY);
      assert.deepEqual(receiver.events, [
        [event, 'dlv_7'],
        [event, 'dlv_8'],
      ]);
    });

    test('one that was changed on its way is answered 401 and goes no further', async () => {
      await using receiver = await open();
      const body = BODY.replace('u1', 'u2');
      const response = await fetch(receiver.url, { method: 'POST', headers: signedHeaders(BODY), body });
      assert.equal(response.status, 401);
      assert.equal(((await response.json()) as { code: string }).code, 'signature_invalid');
      assert.deepEqual(receiver.events, []);
    });

    test('where the application throws, 500 asks for another try', async () => {
      await using receiver = await open();
      const body = BODY.replace('Größe 😀', 'Trouble');
      const response = await fetch(receiver.url, { method: 'POST', headers: signedHeaders(body), body });
      assert.equal(response.status, 500);
    });

    test('a body beyond the limit is answered 413', async () => {
      await using receiver = await open();
      const body = BODY.replace('u1', 'u'.repeat(20_000));
      const response = await fetch(receiver.url, { method: 'POST', headers: signedHeaders(body), body });
      assert.equal(response.status, 413);
    });
  });
}

test('verifyRequest verifies a fetch Request', async () => {
  const request = () => new Request('http://x/', { method: 'POST', headers: signedHeaders(BODY), body: BODY });
  assert.deepEqual(await verifyRequest(request(), SECRET), JSON.parse(BODY));
  await assert.rejects(verifyRequest(request(), 'other'), /signature/);
});

test('verifyRequestBatch gives the events of a fetch Request, and the event of one that is no batch', async () => {
  const request = (body: string) => new Request('http://x/', { method: 'POST', headers: signedHeaders(body), body });
  const event = JSON.parse(BODY);
  assert.deepEqual(await verifyRequestBatch(request(BATCH), SECRET), [
    { id: 'dlv_7', attempt: 1, order: '7', event },
    { id: 'dlv_8', attempt: 2, order: '8', event },
  ]);
  assert.deepEqual(await verifyRequestBatch(request(BODY), SECRET), [{ id: 'dlv_1', attempt: 1, event }]);
  await assert.rejects(verifyRequestBatch(request(BATCH), 'other'), /signature/);
});
