/** Batched webhooks over the API, with every role and both engines. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Destination, Explanation } from '@millrace/contract/control';
import { openLog } from '../src/log.ts';
import { configKey } from '../src/stream/config/config-bucket.ts';
import { PEERS_SUBJECT } from '../src/stream/layout/layout.ts';
import { connectNats } from '../src/stream/nats/connect-nats.ts';
import { askForCheckUps } from '../testing/check-ups.ts';
import { openBucketForTests } from '../testing/inspector.ts';
import { answer, openReceiver, type Received } from '../testing/receiver.ts';
import { track, tracks } from '../testing/samples.ts';
import { addScene, openStack, type Stack } from '../testing/stack.ts';
import { until } from '../testing/until.ts';

type Problem = { code: string; errors?: { path: string; message: string }[] };
type Item = { id: string; attempt: number; body: { event: string } };

let stack: Stack;
before(async () => void (stack = await openStack()));
after(() => stack[Symbol.asyncDispose]());

const eventsIn = ({ body }: Received) => (JSON.parse(body) as { events: Item[] }).events;
const SILENT = openLog({ level: 'silent', pretty: false });
const BATCH = { bodyFormat: 'batch' };

type Letters = { items: { id: string; messageId: string; attempts: number }[] };
const letters = async (destinationId: string) =>
  (await stack.get<Letters>('GET', `/dead-letters?destinationId=${destinationId}`)).items;

suite('a destination with the body format batch', () => {
  test('gets signed batches, and explain tells of each event in which it was', async () => {
    await using receiver = await openReceiver();
    const { writeKey } = await addScene(stack, receiver.url, BATCH);
    await stack.send(writeKey, tracks(20));
    await until(() => receiver.received.flatMap(eventsIn).length === 20);
    const [first] = receiver.received;
    const size = first === undefined ? 0 : eventsIn(first).length;
    assert.ok(size > 1);
    const told = async () => (await stack.get<Explanation>('GET', '/events/m-e0/explain')).story.join('\n');
    await until(async () => (await told()).includes('Delivered at'));
    assert.match(await told(), new RegExp(`answered 200 \\(.*, in a batch of ${size} events\\)`));
  });

  test('gives up one bad event of a batch, and delivers the rest; the letter is delivered anew under its id', async () => {
    let isStrict = true;
    const names = (received: Received) => eventsIn(received).map(({ body }) => body.event);
    await using receiver = await openReceiver((one, response) =>
      answer(isStrict && names(one).includes('bad') ? 422 : 200)(one, response),
    );
    const { destinationId, writeKey } = await addScene(stack, receiver.url, BATCH);
    await stack.send(writeKey, [...tracks(5, { userId: 'u2' }).slice(1), track('bad'), track('last')]);
    await until(async () => (await letters(destinationId)).length === 1);
    const [letter] = await letters(destinationId);
    assert.equal(letter?.messageId, 'm-bad');
    type Details = { history: { events?: number }[] };
    const { history } = await stack.get<Details>('GET', `/dead-letters/${letter?.id}`);
    assert.deepEqual([history[0]?.events, history.at(-1)?.events], [6, undefined]);
    const { story } = await stack.get<Explanation>('GET', '/events/m-bad/explain');
    assert.match(story.join('\n'), /answered 422 .* in a batch of 6 events\)\. .*in a smaller batch/);
    isStrict = false;
    const before = receiver.received.length;
    const idOfBad = receiver.received.flatMap(eventsIn).find(({ body }) => body.event === 'bad')?.id;
    await stack.get('POST', `/dead-letters/${letter?.id}/retry`);
    await until(() => receiver.received.length > before);
    const again = receiver.received.slice(before).flatMap(eventsIn);
    assert.deepEqual(
      again.map(({ id, attempt }) => ({ id, attempt })),
      [{ id: idOfBad, attempt: 1 }],
    );
  });

  test('is left by an older process to a newer one, and other destinations are not', async () => {
    await using receiver = await openReceiver();
    await using bucket = await openBucketForTests(stack.nats.adminUrl);
    const { destinationId } = await addScene(stack, receiver.url, BATCH);
    const version = async () => (JSON.parse(await bucket.get(configKey.destination(destinationId))) as { v: number }).v;
    assert.equal(await version(), 2);
    await stack.get('PATCH', `/destinations/${destinationId}`, { settings: { bodyFormat: 'full' } });
    await until(async () => (await version()) === 1);
  });

  test('is refused while a deliver process is alive that knows no batches, and taken when it has stopped', async () => {
    await using receiver = await openReceiver();
    await using connection = await connectNats({ url: stack.nats.adminUrl, name: 'older', log: SILENT });
    const { sourceId, destinationId } = await addScene(stack, receiver.url);
    const change = () => stack.ask<Problem>('PATCH', `/destinations/${destinationId}`, { settings: BATCH });
    const refused = async () => {
      // As a version before batches tells that it is alive.
      connection.nc.publish(PEERS_SUBJECT, 'older 0.0.9');
      return (await change()).status === 409;
    };
    // Turned back, as often as control took it before it heard of the process.
    await until(async () => {
      await stack.get('PATCH', `/destinations/${destinationId}`, { settings: { bodyFormat: 'full' } });
      return refused();
    });
    const { body } = await change();
    assert.equal(body.code, 'older_processes');
    assert.match(body.errors?.[0]?.message ?? '', /^needs this version in all .*1 deliver process is older/);
    const settings = { targets: [{ url: receiver.url }], ...BATCH };
    const made = await stack.ask('POST', '/destinations', { sourceId, catalog: 'Webhooks', settings });
    assert.equal(made.status, 409);
    const renamed = await stack.ask('PATCH', `/destinations/${destinationId}`, { name: 'Other' });
    assert.equal(renamed.status, 200);
    await until(async () => (await change()).status === 200);
  });

  test('gets one full batch as the large body of a check-up', async () => {
    await using receiver = await openReceiver();
    const { destinationId } = await addScene(stack, receiver.url, BATCH);
    const report = await askForCheckUps(stack).checkUp(destinationId);
    const large = report.steps.find(({ name }) => name === 'large_body');
    assert.match(large?.sentence ?? '', /It takes the largest batch, here \d+ events in a body of 4\d{5} bytes/);
    assert.equal(receiver.received.at(-1)?.headers['webhook-id'], large?.webhookId);
  });

  test('is tested with a batch of one event', async () => {
    await using receiver = await openReceiver();
    const { destinationId } = await addScene(stack, receiver.url, BATCH);
    type Tested = { id: string; request: { body: string } };
    const tested = await stack.get<Tested>('POST', `/destinations/${destinationId}/test`, {});
    const [only, ...others] = (JSON.parse(tested.request.body) as { events: Item[] }).events;
    assert.deepEqual([only?.id, others.length], [tested.id, 0]);
    assert.equal(receiver.received[0]?.headers['webhook-id'], tested.id);
    const { settings } = await stack.get<Destination>('GET', `/destinations/${destinationId}`);
    assert.equal(settings['bodyFormat'], 'batch');
  });
});
