/**
 * The advice to receivers, tried with the libraries that they use: Express's own parser with the recipe that compares
 * JSON.stringify(req.body), and the published library of Standard Webhooks.
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { before, suite, test } from 'node:test';
import express from 'express';
import { Webhook } from 'standardwebhooks';
import { acceptRequest } from './accept-request.ts';
import type { AcceptedEvent } from './call.ts';
import { checkRequest } from './check-request.ts';
import { MAX_BATCH_BYTES, MAX_CALL_BYTES } from './limits.ts';
import { signBody, signStandardWebhook } from './signature.ts';
import { type BodyFormat, webhookBody } from './webhook-body.ts';
import { nastyRequests, type NastyRequest } from '../testing/nasty-requests.ts';

/** `NASTY_EVENTS=100000` tries as many as the promise was first measured with. */
// oxlint-disable-next-line node/no-process-env -- the size of a test run
const EVENTS = Number(process.env['NASTY_EVENTS'] ?? 20_000);
const EVENTS_OVER_HTTP = 2_000;
const SEED = 20_261_115;
const FORMATS: readonly BodyFormat[] = ['documented', 'full'];
const RECEIVED_AT = '2026-11-15T00:08:50.000Z';
/** One as Millrace makes them, one made by hand. */
const MADE_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OWN_SECRET = 'schlüssel-😀';

let bodies: string[];
/** Each event in one of its formats, half of them in each: for slow checks. */
let oneOfEach: string[];

before(() => {
  const events = nastyEvents(EVENTS);
  bodies = events.flatMap((event) => FORMATS.map((format) => webhookBody(event, format)));
  oneOfEach = bodies.filter((_, index) => index % 4 === 0 || index % 4 === 3);
});

suite(`the bodies of ${EVENTS} nasty events, in both formats`, () => {
  test('hold everything that they were made to hold', () => {
    assert.deepEqual([bodies.length, oneOfEach.length], [2 * EVENTS, EVENTS]);
    const signs = ['"__proto__":', '"toJSON":', '"4294967295":', '"17":', '1e+21', '1e-7', '5e-324', ':null', ':{}'];
    const texts = ['😀', '\u2028', '\\ud800', '\\udc00\\ud800', '\ufeff', '[[[[[[[[[[[[', 'long 😀long 😀'];
    for (const sign of [...signs, ...texts]) {
      let count = 0;
      const isOften = bodies.some((body) => body.includes(sign) && ++count === 100);
      assert.ok(isOften, `${JSON.stringify(sign)} is in ${count} bodies only`);
    }
  });

  test('are the same text after being read and written again', () => {
    for (const body of bodies) if (JSON.stringify(JSON.parse(body)) !== body) assert.fail(body);
  });

  test('are the same text after being sent as UTF-8', () => {
    for (const body of bodies) if (Buffer.from(body).toString() !== body) assert.fail(body);
  });

  test("verify with the recipe over what Express's JSON parser makes of them", async () => {
    const parse = express.json({ limit: MAX_BATCH_BYTES });
    for (const body of oneOfEach) {
      const parsed = await parseWith(parse, body);
      if (recipe(MADE_SECRET, parsed) !== signBody(MADE_SECRET, body)) assert.fail(body);
    }
  });

  test(`verify in a real Express server, ${EVENTS_OVER_HTTP} of them`, async () => {
    await using receiver = await startExpress(OWN_SECRET);
    // An odd step, so that it meets both formats.
    const step = Math.floor(bodies.length / EVENTS_OVER_HTTP - 1) | 1;
    const sample = bodies.filter((_, index) => index % step === 0);
    assert.ok(sample.length >= EVENTS_OVER_HTTP);
    for (const body of sample) {
      const status = await receiver.post(body, signBody(OWN_SECRET, body));
      if (status !== 200) assert.fail(`${status}: ${body}`);
    }
    const [body = ''] = sample;
    assert.equal(await receiver.post(body, signBody(MADE_SECRET, body)), 401, 'another secret');
    assert.equal(await receiver.post(body.replace('"version":1', '"version":2'), signBody(OWN_SECRET, body)), 401);
  });

  test('verify with the published library, whichever of two secrets it knows', () => {
    const libraries = [new Webhook(MADE_SECRET), new Webhook(Buffer.from(OWN_SECRET), { format: 'raw' })];
    for (const [index, body] of oneOfEach.entries()) {
      const headers = standardHeaders(`dlv_${index}`, body);
      try {
        libraries[(index >> 1) % 2]?.verify(body, headers, { jsonParse: false });
      } catch (error) {
        assert.fail(`${String(error)}: ${body}`);
      }
    }
  });

  test('do not verify with the published library once they are changed', () => {
    const library = new Webhook(MADE_SECRET);
    for (const body of bodies.slice(0, 1_000)) {
      const headers = standardHeaders('dlv_1', body);
      assert.throws(() => library.verify(`${body} `, headers), /No matching signature/);
      assert.throws(() => library.verify(body, { ...headers, 'webhook-id': 'dlv_2' }), /No matching signature/);
    }
  });
});

test('the largest body there can be is smaller than what receivers are told to take', () => {
  const numbers = (bytes: number) => `[1e20${',1e20'.repeat(bytes / 5 - 1)}]`;
  const call = `{"userId":"u1","type":"page","context":{"integrations":{"a":${numbers(MAX_CALL_BYTES - 100)}}}}`;
  assert.ok(call.length <= MAX_CALL_BYTES);
  const [event] = accept({ shape: 'page', text: call });
  assert.ok(event);
  const body = webhookBody(event, 'full');
  assert.ok(body.length > 8 * MAX_CALL_BYTES, 'a short way to write a long number is written out, in two places');
  assert.ok(Buffer.byteLength(body) + 2 * MAX_CALL_BYTES < MAX_BATCH_BYTES, 'also with what a batch may add to it');
});

function nastyEvents(count: number): AcceptedEvent[] {
  const events: AcceptedEvent[] = [];
  for (const nasty of nastyRequests(SEED)) {
    events.push(...accept(nasty));
    if (events.length >= count) break;
  }
  return events.slice(0, count);
}

/** From bytes to events as collect and a reader of the stream do it. */
function accept({ shape, text }: NastyRequest): AcceptedEvent[] {
  const bytes = Buffer.from(text);
  const parsed: unknown = JSON.parse(bytes.toString());
  const checked = checkRequest(parsed, shape, bytes.length);
  if (!checked.ok) return [];
  const refused = checked.refused.map(({ index }) => index);
  return acceptRequest(parsed, { shape, receivedAt: RECEIVED_AT, requestId: 'req_1', refused });
}

/** As the first document of this service gave it to receivers. */
function recipe(secret: string, parsedBody: unknown): string {
  return createHmac('sha1', secret).update(JSON.stringify(parsedBody)).digest('hex');
}

/** The middleware itself on a request without a socket: a hundred thousand real ones would take minutes. */
function parseWith(parse: ReturnType<typeof express.json>, body: string): Promise<unknown> {
  const bytes = Buffer.from(body);
  const headers = { 'content-type': 'application/json', 'content-length': String(bytes.length) };
  const incoming: Readable & { body?: unknown } = Object.assign(Readable.from([bytes]), { headers });
  return new Promise((resolve, reject) => {
    parse(incoming as unknown as IncomingMessage, {} as never, (error) => {
      if (error === undefined) resolve(incoming.body);
      else reject(error instanceof Error ? error : new Error(String(error)));
    });
  });
}

async function startExpress(secret: string) {
  const app = express();
  app.post('/', express.json({ limit: MAX_BATCH_BYTES }), (incoming, outgoing) => {
    const isGenuine = recipe(secret, incoming.body) === incoming.get('X-Signature');
    outgoing.sendStatus(isGenuine ? 200 : 401);
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    async post(body: string, signature: string): Promise<number | undefined> {
      const headers = { 'Content-Type': 'application/json', 'X-Signature': signature };
      const sent = request({ host: '127.0.0.1', port, method: 'POST', agent, headers }).end(body);
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      await once(answer.resume(), 'end');
      return answer.statusCode;
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function standardHeaders(id: string, body: string): Record<string, string> {
  const timestampSeconds = Math.floor(Date.now() / 1_000);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signStandardWebhook([MADE_SECRET, OWN_SECRET], { id, timestampSeconds, body }),
  };
}
