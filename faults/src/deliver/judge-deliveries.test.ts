import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { suite, test } from 'node:test';
import { type DeliveryEvidence, judgeDeliveries } from './judge-deliveries.ts';
import { markedCall, readMark } from './marked-call.ts';
import { type Arrival, readArrival, readArrivals } from './read-arrival.ts';

const ANSWERED = { startedAt: 0, endedAt: 10 };

/** Two events of one source, each delivered to its two destinations; one of them only at the second attempt. */
const GOOD: DeliveryEvidence = {
  calls: new Map([
    ['a', { sourceId: 'src_1', answered: ANSWERED }],
    ['b', { sourceId: 'src_1', answered: ANSWERED }],
    ['other', { sourceId: 'src_2', answered: undefined }],
  ]),
  destinations: [
    { id: 'dst_1', sourceId: 'src_1' },
    { id: 'dst_2', sourceId: 'src_1' },
    { id: 'dst_3', sourceId: 'src_2' },
  ],
  arrivals: [
    arrival('a', 'dst_1', {}),
    arrival('a', 'dst_2', { status: 500 }),
    arrival('a', 'dst_2', { at: 30 }),
    arrival('b', 'dst_1', {}),
    arrival('b', 'dst_2', {}),
  ],
  strikes: [{ what: 'a kill', from: 45, until: 50, inFlight: 1 }],
};

suite('the verdict on deliveries is green', () => {
  test('when everything answered 200 arrived once at each destination', () => {
    const { failures, figures } = judgeDeliveries(GOOD);
    assert.deepEqual(failures, []);
    assert.equal(figures['extra'], 0);
  });

  test('when no more came again than was under way at a kill', () => {
    const { failures, figures } = judgeDeliveries(goodWith(arrival('b', 'dst_1', { at: 7_050 })));
    assert.deepEqual(failures, []);
    assert.equal(figures['extra'], 1);
    assert.deepEqual(figures['each'], [{ what: 'a kill', extra: 1, inFlight: 1 }]);
  });

  test('when an attempt under way at a kill is made again, and both of its copies are seen through', () => {
    const copies = [arrival('b', 'dst_2', { status: 500, at: 40 }), arrival('b', 'dst_2', { at: 7_050 })];
    const later = arrival('b', 'dst_2', { attempt: 2, at: 9_000 });
    const others = GOOD.arrivals.filter((one) => one.messageId !== 'b' || one.destinationId !== 'dst_2');
    assert.deepEqual(judgeDeliveries({ ...GOOD, arrivals: [...others, ...copies, later] }).failures, []);
  });

  test('when two strikes at the same time explain together what came again', () => {
    const strikes = [
      { what: 'one', from: 10, until: 50, inFlight: 1 },
      { what: 'another', from: 30, until: 40, inFlight: 1 },
    ];
    const { failures, figures } = judgeDeliveries({ ...goodWith(again('a'), again('b')), strikes });
    assert.deepEqual(failures, []);
    assert.deepEqual(figures['each'], [{ what: 'one and another', extra: 2, inFlight: 2 }]);
  });

  test('when an event that is stored twice arrives twice', () => {
    const twice = goodWith(arrival('b', 'dst_1', { at: 60 }), arrival('b', 'dst_2', { at: 60 }));
    assert.deepEqual(judgeDeliveries({ ...twice, storedAgain: new Map([['b', 1]]) }).failures, []);
  });
});

suite('the verdict on deliveries is red', () => {
  const without = (messageId: string) => GOOD.arrivals.filter((one) => one.messageId !== messageId);
  const red: [what: string, evidence: DeliveryEvidence, failure: RegExp][] = [
    ['an event never arrived', { ...GOOD, arrivals: without('b') }, /2 deliveries answered 200 and never delivered: b/],
    [
      'one only failed',
      { ...GOOD, arrivals: GOOD.arrivals.slice(0, 2).concat(without('a')) },
      /never delivered: a → dst_2/,
    ],
    [
      'it went to another workspace',
      goodWith(arrival('b', 'dst_3', {})),
      /to a destination of another source: b → dst_3/,
    ],
    ['a signature is wrong', goodWith(arrival('b', 'dst_1', { status: 500, problem: 'signature' })), /wrong signature/],
    ['a body was changed', goodWith(arrival('b', 'dst_1', { status: 500, problem: 'body' })), /another body/],
    ['nobody sent it', goodWith(arrival('ghost', 'dst_1', {})), /delivered and never sent: ghost/],
    [
      'too many came again',
      goodWith(again('a'), again('b')),
      /2 deliveries came again after a kill, but 1 were under way/,
    ],
    [
      'one came again twice',
      goodWith(again('b'), arrival('b', 'dst_1', { at: 90 })),
      /2 deliveries came again after a kill, but 1/,
    ],
    [
      'it came again without a cause',
      { ...goodWith(again('b')), strikes: [] },
      /although nothing had happened: b → dst_1/,
    ],
    [
      'attempts differ in webhook-id',
      goodWith(arrival('b', 'dst_1', { status: 500, webhookId: 'x' })),
      /more than one/,
    ],
    ['deliveries share a webhook-id', shareIds(), /share their webhook-id/],
  ];
  for (const [what, evidence, failure] of red) {
    test(`when ${what}`, () => {
      const { failures } = judgeDeliveries(evidence);
      assert.equal(failures.length, 1, failures.join('; '));
      assert.match(failures[0] ?? '', failure);
    });
  }
});

suite('a receiver of the oracle', () => {
  const secret = 'a shared secret';
  const call = markedCall({ id: 'src_1', writeKey: '' }, 'a');
  const body = JSON.stringify({ version: 1, ...call });

  test('knows the call again', () => {
    const { problem, messageId, sourceId, attempt } = readArrival(posted(body, secret), secret);
    assert.deepEqual(
      { problem, messageId, sourceId, attempt },
      { problem: undefined, messageId: 'a', sourceId: 'src_1', attempt: 2 },
    );
  });

  test('knows each call of a batch again, by the id and the attempt inside', () => {
    const events = [1, 2].map((attempt) => ({ id: `dlv_${attempt}`, attempt, body: JSON.parse(body) as object }));
    const batch = JSON.stringify({ version: 1, type: 'batch', events });
    const read = readArrivals(posted(batch, secret), secret);
    assert.deepEqual(
      read.map(({ webhookId, attempt, messageId, problem }) => ({ webhookId, attempt, messageId, problem })),
      [1, 2].map((attempt) => ({ webhookId: `dlv_${attempt}`, attempt, messageId: 'a', problem: undefined })),
    );
    assert.equal(readArrivals(posted(batch, 'another'), secret)[1]?.problem, 'signature');
    assert.equal(readArrivals(posted(batch.replace('12.5', '12.4'), secret), secret)[0]?.problem, 'body');
  });

  test('sees a signature with another secret, in either scheme', () => {
    assert.equal(readArrival(posted(body, 'another'), secret).problem, 'signature');
    for (const name of ['x-signature', 'webhook-signature']) {
      const { headers, ...rest } = posted(body, secret);
      assert.equal(readArrival({ ...rest, headers: { ...headers, [name]: 'x' } }, secret).problem, 'signature', name);
    }
  });

  test('sees a body with another value, other bytes, or of another call', () => {
    for (const changed of [
      body.replace('12.5', '12.4'),
      body.replace(':', ': '),
      body.replace('"user-a"', '"user-b"'),
    ]) {
      assert.notEqual(changed, body);
      assert.equal(readArrival(posted(changed, secret), secret).problem, 'body');
    }
    assert.equal(readMark('{"properties":{}}'), undefined);
    assert.equal(readMark('not JSON'), undefined);
  });
});

function arrival(messageId: string, destinationId: string, change: Partial<Arrival>): Arrival {
  const sourceId = messageId === 'other' ? 'src_2' : 'src_1';
  const webhookId = `dlv-${messageId}-${destinationId}`;
  return { destinationId, messageId, sourceId, webhookId, attempt: 1, status: 200, at: 20, ...change };
}

function again(messageId: string): Arrival {
  return arrival(messageId, 'dst_1', { at: 60 });
}

function goodWith(...more: Arrival[]): DeliveryEvidence {
  return { ...GOOD, arrivals: [...GOOD.arrivals, ...more] };
}

function shareIds(): DeliveryEvidence {
  return {
    ...GOOD,
    arrivals: GOOD.arrivals.map((one) => (one.messageId === 'b' ? { ...one, webhookId: 'same' } : one)),
  };
}

function posted(body: string, secret: string) {
  const headers = {
    'webhook-id': 'dlv_1',
    'webhook-timestamp': '1700000000',
    'x-millrace-attempt': '2',
    'x-signature': createHmac('sha1', secret).update(body).digest('hex'),
    'webhook-signature': `v1,${createHmac('sha256', secret).update(`dlv_1.1700000000.${body}`).digest('base64')}`,
  };
  return { destinationId: 'dst_1', headers, body };
}
