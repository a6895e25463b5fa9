import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type AcceptedEvent, signBody } from '@millrace/contract';
import { type Received, startDemoReceiver } from './demo-receiver.ts';
import { openDemoScreen } from './demo-screen.ts';

const SECRET = 'demo-shared-secret';
const URL_1 = 'http://127.0.0.1:1/demo';
const AT = Date.parse('2030-01-01T10:00:00.000Z');
const EVENT: AcceptedEvent = {
  messageId: 'm1',
  type: 'track',
  userId: 'u1',
  event: 'Order Completed',
  context: {},
  receivedAt: '2030-01-01T10:00:00.000Z',
  timestamp: '2030-01-01T10:00:00.000Z',
};
const STORED = { stream: 'EVENTS-0', sequence: 7, storedAt: AT, sourceId: 'src_1', events: [EVENT] };
const DELIVERED: Received = {
  id: 'dlv_m1',
  attempt: '1',
  at: AT + 12,
  isVerified: true,
  body: '{"type":"track","event":"Order Completed"}',
};
const STORED_LINE = /^\n10:00:00\.000 {2}track {5}Order Completed {11}stored in EVENTS-0 as #7\n {2}\{"messageId":"m1"/;
const DELIVERED_LINE =
  '10:00:00.012  track     Order Completed           delivered to http://127.0.0.1:1/demo, signature verified, 12 ms after it was stored';

suite('the screen of `npm run dev`', () => {
  test('shows an event when it is stored and when it is delivered', () => {
    const { screen, lines } = openScreen();
    screen.stored(STORED);
    screen.delivered(DELIVERED, URL_1);
    assert.match(lines[0] ?? '', STORED_LINE);
    assert.deepEqual(lines.slice(1), [DELIVERED_LINE]);
  });

  test('text of senders moves no cursor, makes no line and turns no direction', () => {
    const { screen, lines } = openScreen();
    const event = 'A\u001b]0;owned\u0007\u009b2J\r\nfake line\u202e\u2028';
    screen.stored({ ...STORED, events: [{ ...EVENT, event, properties: { [event]: '\u009b\u202e\u007f' } }] });
    screen.delivered({ ...DELIVERED, body: JSON.stringify({ type: 'track\u001b', event }) }, URL_1);
    for (const line of lines) assert.doesNotMatch(line.replaceAll('\n', ''), /\p{Cc}|\u202e|\u2028/u);
    assert.deepEqual(
      lines.map((line) => line.split('\n').length),
      [3, 1],
    );
    assert.match(lines[1] ?? '', /A\\u001b\]0;owned\\u0007\\u009b2J\\u000d\\u000afake line\\u202e/);
    const shown = JSON.parse(lines[0]?.split('\n')[2] ?? '') as { event: string };
    assert.equal(shown.event, event);
  });

  test('keeps the order when the delivery is heard of first', () => {
    const { screen, lines } = openScreen();
    screen.delivered(DELIVERED, URL_1);
    assert.deepEqual(lines, []);
    screen.stored(STORED);
    assert.match(lines[0] ?? '', STORED_LINE);
    assert.deepEqual(lines.slice(1), [DELIVERED_LINE]);
  });

  test('says so when a delivery took several attempts, or its event was stored before', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { screen, lines } = openScreen();
    screen.delivered({ ...DELIVERED, attempt: '2' }, URL_1);
    t.mock.timers.tick(1_000);
    assert.match(lines[0] ?? '', /signature verified, stored before this start, attempt 2$/);
  });
});

suite('the demo receiver', () => {
  test('takes what is signed with the demo secret, refuses the rest and tells of both', async () => {
    const told: Received[] = [];
    await using receiver = await startDemoReceiver(SECRET, (delivery) => told.push(delivery));
    const body = '{"type":"track"}';
    const post = async (signature: string) => {
      const headers = { 'X-Signature': signature, 'webhook-id': 'dlv_1', 'X-Millrace-Attempt': '1' };
      return (await fetch(receiver.url, { method: 'POST', headers, body })).status;
    };
    assert.deepEqual([await post(signBody(SECRET, body)), await post(signBody('another', body))], [200, 401]);
    assert.deepEqual(
      told.map(({ id, isVerified }) => [id, isVerified]),
      [
        ['dlv_1', true],
        ['dlv_1', false],
      ],
    );
  });
});

function openScreen() {
  const lines: string[] = [];
  const print = (text: string) => void lines.push(text);
  return { lines, screen: openDemoScreen({ deliveryIdOf: (_, { messageId }) => `dlv_${messageId}`, print }) };
}
