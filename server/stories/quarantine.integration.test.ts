/** Unreadable messages, seen and put back over the API, with every role and both engines. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { newDelivery } from '../src/domain/delivery.ts';
import { openReceiver } from '../testing/receiver.ts';
import { addScene, openStack, type Stack } from '../testing/stack.ts';
import { until } from '../testing/until.ts';
import { track } from '../testing/samples.ts';

type Item = { id: string; kind: string; stream: string; subject: string; reason: string; bytes: number };
type Page = { items: Item[]; nextCursor: string | null };
type Details = Item & { headers: Record<string, string>; payloadBase64: string };

let stack: Stack;
before(async () => void (stack = await openStack()));
after(() => stack[Symbol.asyncDispose]());

const inQuarantine = async (subject: string) =>
  (await stack.get<Page>('GET', '/quarantine?limit=100')).items.filter((item) => item.subject === subject);

const actions = async (objectId: string) => {
  const { items } = await stack.get<{ items: { action: string; objectId: string }[] }>(
    'GET',
    '/installation/audit-log?limit=100',
  );
  return items.filter((item) => item.objectId === objectId).map(({ action }) => action);
};

suite('the quarantine', () => {
  test('shows origin, reason and bytes of a request that nobody can read, and deletes it when asked', async () => {
    await using receiver = await openReceiver();
    const { sourceId, writeKey } = await addScene(stack, receiver.url);
    const subject = `events.0.${sourceId}`;
    await stack.publish(subject, 'not json', { 'Millrace-Request': '{}' });
    await stack.send(writeKey, [track('healthy')]);
    await until(async () => (await inQuarantine(subject)).length === 1 && receiver.received.length === 1);
    const [item] = await inQuarantine(subject);
    assert.ok(item !== undefined);
    assert.deepEqual([item.kind, item.stream, item.bytes], ['request', 'EVENTS-0', 8]);
    assert.match(item.reason, /envelope/);
    const details = await stack.get<Details>('GET', `/quarantine/${item.id}`);
    assert.equal(Buffer.from(details.payloadBase64, 'base64').toString(), 'not json');
    assert.deepEqual(details.headers, { 'Millrace-Request': '{}' });
    await stack.get('DELETE', `/quarantine/${item.id}`);
    assert.equal((await stack.ask('GET', `/quarantine/${item.id}`)).status, 404);
    assert.deepEqual(await actions(item.id), ['quarantine.deleted']);
  });

  test('puts a thing back to where it came from: what is poison still comes back', async () => {
    await using receiver = await openReceiver();
    const { destinationId } = await addScene(stack, receiver.url);
    const subject = `lanes.0.${destinationId}.0`;
    const event = { ...track('parked'), type: 'track', event: 'parked', messageId: 'm', context: {} } as const;
    const at = new Date().toISOString();
    const good = newDelivery('dlv_good', { ...event, receivedAt: at, timestamp: at }, Date.now());
    await stack.publish(subject, JSON.stringify([good, { id: 'dlv_odd' }]));
    await stack.publish(`tickets.due.${destinationId}`, '');
    await until(async () => (await inQuarantine(subject)).length === 1 && receiver.received.length === 1);
    const [item] = await inQuarantine(subject);
    await stack.get('POST', `/quarantine/${item?.id}/redrive`);
    assert.deepEqual(await actions(item?.id ?? ''), ['quarantine.redriven']);
    await until(async () => {
      const [again] = await inQuarantine(subject);
      return again !== undefined && again.id !== item?.id;
    });
    assert.equal(receiver.received.length, 1, 'what was delivered is not part of it');
  });

  test('takes dead letters that nobody can read: the others are listed and replayed', async () => {
    await using receiver = await openReceiver((_, response) => response.writeHead(400).end());
    const { destinationId, writeKey } = await addScene(stack, receiver.url);
    const subject = `dead.${destinationId}`;
    await stack.publish(subject, '{"reason":7}');
    await stack.publish(subject, 'for later', { 'Millrace-Format': '2' });
    await stack.send(writeKey, [track('refused')]);
    const letters = async () => (await stack.get<Page>('GET', `/dead-letters?destinationId=${destinationId}`)).items;
    await until(async () => (await letters()).length === 1 && (await inQuarantine(subject)).length === 1);
    assert.equal(await stack.deadLetterCount(destinationId), 2, 'the letter of a newer format stays');
  });

  test('takes what lanes are said to be when nobody can read it', async () => {
    await stack.publish('$KV.health.dst_odd', '{"state":"unwell"}');
    await until(async () => (await inQuarantine('$KV.health.dst_odd')).length === 1);
    const [item] = await inQuarantine('$KV.health.dst_odd');
    assert.equal((await stack.ask('POST', `/quarantine/${item?.id}/redrive`)).status, 409, 'it is written anew anyway');
  });

  test('is listed by kind, page by page', async () => {
    const all: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const more: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const page: Page = await stack.get<Page>('GET', `/quarantine?limit=1${more}`);
      all.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    const whole = await stack.get<Page>('GET', '/quarantine?limit=100');
    assert.deepEqual(
      all,
      whole.items.map(({ id }) => id),
    );
    const lanes = await stack.get<Page>('GET', '/quarantine?kind=lane');
    assert.deepEqual([...new Set(lanes.items.map(({ kind }) => kind))], ['lane']);
    assert.equal((await stack.ask('GET', '/quarantine?cursor=x')).status, 400);
  });
});
