/**
 * Audiences over the whole way, by the sentences of the seed: calls come in over HTTP, definitions over the control API, and a receiver
 * written by the book verifies what it gets. The examples of docs/use/audiences.md run here too, word for word.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { ROOT_DIR } from '@millrace/engines';
import { receiverCommand } from './receiver-commands.ts';
import { type Receiver, startReceiver } from './receiver-process.ts';
import { type Exchange, type Recorder, recordRequests } from './recorder.ts';
import { startWholeServer, type WholeServer } from './whole-server.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const PAGE = readFileSync(join(ROOT_DIR, 'docs/use/audiences.md'), 'utf8');

type Definition = { id: string; key: string; state: string; size: number };
type Identify = { userId: string; traits: Record<string, unknown>; timestamp: string; context: { personas: Personas } };
type Personas = { computation_id: string; space_id: string; sequence: number };

const opened = new AsyncDisposableStack();
let server: WholeServer;
let writeKey: string;
let destinationId: string;
let receiver: Receiver;
let recorder: Recorder;

before(async () => {
  server = opened.use(await startWholeServer());
  const shop = await server.ask<{ id: string }>('POST', '/sources', { name: 'Web shop' });
  const other = await server.ask<{ id: string }>('POST', '/sources', { name: 'Without calls' });
  receiver = opened.use(await startReceiver(receiverCommand.node(), SECRET));
  recorder = opened.use(await recordRequests(receiver.url));
  const settings = { targets: [{ url: `${recorder.url}/webhooks` }], sharedSecret: SECRET };
  const body = { sourceId: other.id, catalog: 'Webhooks', enabled: true, settings };
  destinationId = (await server.ask<{ id: string }>('POST', '/destinations', body)).id;
  writeKey = await server.newWriteKey(shop.id);
});
after(() => opened.disposeAsync());

const identifyOf = ({ body }: Exchange) => JSON.parse(body) as Identify;
/** The calls so far that have this key. */
const told = (key: string) => recorder.exchanges.filter((exchange) => key in identifyOf(exchange).traits);
const untilTold = (key: string, times: number) => recorder.until(() => told(key).length >= times);
const valuesOf = (key: string) =>
  told(key).map((exchange) => {
    const { userId, traits, context } = identifyOf(exchange);
    return `${userId} ${String(traits[key])} ${context.personas.sequence}`;
  });

async function send(calls: object[]): Promise<void> {
  const headers = { Authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}` };
  const answer = await fetch(`${server.collectUrl}/v1/batch`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ batch: calls }),
  });
  assert.equal(answer.status, 200, await answer.text());
}

const order = (userId: string, revenue: number) => ({
  type: 'track',
  userId,
  event: 'Order Completed',
  properties: { revenue, currency: 'EUR' },
});

suite('an audience, as the seed says it', () => {
  const KEY = 'seed_spenders_30_days';
  let audience: Definition;

  test('is created, and every user in it is sent as an identify call', async () => {
    await send([order('ada', 600), order('bob', 100), order('cyd', 300), order('cyd', 400)]);
    const big = { event: 'Order Completed', sum: 'properties.revenue', window: '30d', atLeast: 500 };
    const refund = { not: { event: 'Refund Requested', window: '7d', atLeast: 1 } };
    const asked = { kind: 'audience', name: 'Seed spenders (30 days)', destinations: [destinationId] };
    audience = await server.ask('POST', '/definitions', { ...asked, when: { all: [big, refund] } });
    await untilTold(KEY, 2);
    assert.deepEqual(valuesOf(KEY).toSorted(), ['ada true 1', 'cyd true 1']);
  });

  test('has the snake-cased name as its key, and a boolean as the value', () => {
    assert.equal(audience.key, KEY);
    for (const { body, status, headers } of told(KEY)) {
      const { userId, timestamp, context } = JSON.parse(body) as Identify;
      const { space_id } = context.personas;
      const expected = `{"version":1,"type":"identify","userId":"${userId}","traits":{"${KEY}":true},"timestamp":"${timestamp}","context":{"personas":{"computation_class":"audience","computation_id":"${audience.id}","computation_key":"${KEY}","space_id":"${space_id}","sequence":1}}}`;
      assert.equal(body, expected);
      assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.match(space_id, /^ws_/);
      assert.deepEqual([status, headers['content-type']], [200, 'application/json']);
    }
  });

  test('sends later only the users whose membership has changed', async () => {
    await send([order('ada', 50), order('bob', 450), order('dan', 20)]);
    await untilTold(KEY, 3);
    await send([{ type: 'track', userId: 'cyd', event: 'Refund Requested' }]);
    await untilTold(KEY, 4);
    assert.deepEqual(valuesOf(KEY).slice(2), ['bob true 1', 'cyd false 2']);
    const { size } = await server.ask<Definition>('GET', `/definitions/${audience.id}`);
    assert.equal(size, 2);
  });

  test('reaches a receiver that verifies every call', async () => {
    for (const { headers } of told(KEY)) await receiver.untilWorkedOn(String(headers['webhook-id']));
  });
});

suite('a computed trait, as the seed says it', () => {
  test('is sent as an identify call with its value', async () => {
    const asked = { kind: 'trait', name: 'Last order', destinations: [destinationId], compute: 'last' };
    const selection = { event: 'Order Completed', field: 'properties.revenue' };
    await server.ask('POST', '/definitions', { ...asked, ...selection });
    await untilTold('last_order', 4);
    await send([order('ada', 77)]);
    await untilTold('last_order', 5);
    assert.equal(valuesOf('last_order').at(-1), 'ada 77 2');
  });
});

suite('the worked examples of the documentation', { concurrency: true }, () => {
  const [, examples = ''] = PAGE.split(/^## Three worked examples$/m);
  const [section = ''] = examples.split(/^## /m);
  for (const example of section.split(/^### /m).slice(1)) {
    const [title = ''] = example.split('\n');
    const [first = '', ...blocks] = [...example.matchAll(/^```json\n(.*?)^```$/gms)].map(([, text = '']) => text);
    test(title, async () => {
      const asked = JSON.parse(first.replaceAll('dst_…', destinationId)) as object;
      const { id, key } = await server.ask<Definition>('POST', '/definitions', asked);
      await live(id);
      assert.ok(blocks.length >= 2);
      for (const block of blocks) {
        if (block.startsWith('[')) await send(JSON.parse(block) as object[]);
        else await shown(block, key);
      }
    });
  }
});

test('in all of this no call was sent twice', () => {
  const ids = recorder.exchanges.map(({ headers }) => headers['webhook-id']);
  assert.equal(new Set(ids).size, ids.length);
});

/** Waits for the call that a block shows, and compares their bytes. The document names no real ids and no real time. */
async function shown(block: string, key: string): Promise<void> {
  const { userId, context: given } = JSON.parse(block) as Identify;
  const isIt = (exchange: Exchange) => {
    const { userId: id, context } = identifyOf(exchange);
    return id === userId && context.personas.sequence === given.personas.sequence;
  };
  await recorder.until(() => told(key).some(isIt));
  const exchange = told(key).find(isIt);
  assert.ok(exchange !== undefined);
  const { timestamp, context } = identifyOf(exchange);
  const { computation_id: id, space_id: space } = context.personas;
  const expected = JSON.stringify(JSON.parse(block))
    .replace(/"timestamp":"[^"]*"/, `"timestamp":"${timestamp}"`)
    .replace(/"computation_id":"[^"]*"/, `"computation_id":"${id}"`)
    .replace(/"space_id":"[^"]*"/, `"space_id":"${space}"`);
  assert.equal(exchange.body, expected);
}

async function live(id: string): Promise<void> {
  const giveUpAt = Date.now() + 60_000;
  while ((await server.ask<Definition>('GET', `/definitions/${id}`)).state !== 'live') {
    if (Date.now() > giveUpAt) throw new Error('the definition is not live');
    await new Promise((resolve) => setImmediate(resolve));
  }
}
