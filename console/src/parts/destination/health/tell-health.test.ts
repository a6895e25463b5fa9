import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DestinationHealth, Lane, TargetErrors } from '@millrace/contract/control';
import { type Standing, tellHealth } from './tell-health.ts';

const NOW = Date.parse('2026-11-17T13:36:20.000Z');
const COUNTS = { delivered: 0, retry: 0, discarded: 0, expired: 0, skipped: 0 };
const URLS = ['https://hooks.erp.example/orders', 'https://backup.erp.example/orders'];

test('a healthy destination names its receiver, the hour and the latency', () => {
  const told = tellHealth(standing({ lastHour: { ...COUNTS, delivered: 4_018 } }));
  assert.equal(told.lead, 'Healthy.');
  assert.match(told.sentence, /^hooks\.erp\.example took all 4,018 deliveries of the last hour, 95 % within 188.ms\.$/);
  assert.equal(told.todo, 'Nothing to do.');
});

test('a failing destination names each target and its remedy', () => {
  const lane = laneOf({ state: 'failing', depth: 1_612, nextAt: '2026-11-17T13:37:31.000Z' });
  const told = tellHealth({
    ...standing({ lane }, URLS),
    errors: errorsOf([
      { url: URLS[0] ?? '', errorClass: 'http_503', sentence: 'the receiver answered 503' },
      { url: URLS[1] ?? '', errorClass: 'tls_expired', sentence: 'The certificate of backup.erp.example has expired.' },
    ]),
  });
  assert.equal(told.state, 'givenup');
  assert.match(told.lead, /^Failing since \d\d:58:04\.$/);
  assert.equal(
    told.sentence,
    'Neither target takes deliveries. hooks.erp.example answers 503. The certificate of backup.erp.example has expired.',
  );
  assert.match(told.after ?? '', /^1,612 deliveries wait, and none is lost yet\. Next probe at \d\d:37:31\.$/);
  assert.equal(
    told.todo,
    'To do: repair hooks.erp.example, or mend the certificate of backup.erp.example. Either one is enough.',
  );
});

test('a destination that rejects every event says how many became dead letters', () => {
  const errors = errorsOf([{ url: URLS[0] ?? '', errorClass: 'http_401', sentence: 'the receiver answered 401' }]);
  const told = tellHealth({ ...standing({ lastHour: { ...COUNTS, discarded: 1_204 } }), errors });
  assert.match(told.lead, /^Rejecting every event since/);
  assert.match(told.after ?? '', /gave up 1,204 deliveries/);
  assert.match(told.todo, /correct the headers that hooks\.erp\.example asks for/);
});

test('one failing target of two does not hide behind the other', () => {
  const errors = errorsOf([
    { url: URLS[1] ?? '', errorClass: 'tls_expired', sentence: 'Its certificate has expired.' },
  ]);
  const told = tellHealth({ ...standing({ lastHour: { ...COUNTS, delivered: 10 } }, URLS), errors });
  assert.equal(told.state, 'retrying');
  assert.match(told.lead, /^Delivering, but backup\.erp\.example fails since/);
});

test('a destination whose only target fails from the first attempt delivers nothing, and says so', () => {
  const errors = errorsOf([{ url: URLS[0] ?? '', errorClass: 'connection_refused', sentence: 'It refused.' }]);
  const told = tellHealth({ ...standing({ lane: laneOf({ depth: 2 }) }), errors });
  assert.match(told.lead, /^Nothing arrives since/);
  assert.equal(told.todo, 'To do: repair hooks.erp.example.');
});

test('a destination whose every attempt fails is not quiet, even when its errors were not read', () => {
  const failing = tellHealth(standing({ lastHour: { ...COUNTS, retry: 12 }, lane: laneOf({ depth: 3 }) }));
  assert.deepEqual([failing.state, failing.word], ['retrying', 'Retrying']);
  assert.equal(failing.sentence, 'Every attempt of the last hour failed.');
  assert.equal(failing.after, '3 deliveries wait for the next attempt.');
  assert.equal(failing.todo, 'To do: look at its deliveries.');
  const waiting = tellHealth(standing({ lane: laneOf({ depth: 1 }) }));
  assert.equal(waiting.state, 'retrying');
  assert.equal(waiting.sentence, '1 delivery waits for the next attempt.');
  assert.equal(tellHealth(standing({ lastHour: { ...COUNTS, delivered: 9, retry: 1 } })).word, 'Healthy');
});

test('paused and disabled come before the lane', () => {
  const health = { lane: laneOf({ state: 'failing', depth: 3 }) };
  const paused = standing(health);
  assert.equal(tellHealth({ ...paused, destination: { ...paused.destination, paused: true } }).state, 'paused');
  assert.equal(tellHealth({ ...paused, destination: { ...paused.destination, enabled: false } }).word, 'Disabled');
});

test('a destination without events in the last hour is quiet, not healthy', () => {
  assert.equal(tellHealth(standing({})).word, 'Quiet');
  assert.match(tellHealth(standing({ lastHour: { ...COUNTS, skipped: 5 } })).sentence, /filters skipped 5 events/);
});

function standing(health: Partial<DestinationHealth>, urls = URLS.slice(0, 1)): Standing {
  return {
    destination: {
      enabled: true,
      paused: false,
      pausedAt: null,
      updatedAt: '2026-11-17T10:00:00.000Z',
      settings: { targets: urls.map((url) => ({ url })) },
    },
    health: {
      destinationId: 'dst_1',
      sentence: '',
      lastHour: COUNTS,
      lastDay: COUNTS,
      latencyMs: { attempts: 1, p50: 100, p95: 188, p99: 200 },
      errorClasses: [],
      lane: null,
      ...health,
    },
    now: NOW,
  };
}

function laneOf(lane: Partial<Lane>): Lane {
  const at = '2026-11-17T12:58:04.000Z';
  const none = {
    bytes: 0,
    limitBytes: null,
    room: null,
    why: null,
    nextAt: null,
    deliveriesPerSecond: null,
    clearInMs: null,
  };
  return { state: 'waiting', since: at, depth: 0, updatedAt: at, ...none, ...lane };
}

function errorsOf(found: { url: string; errorClass: string; sentence: string }[]): TargetErrors {
  const at = '2026-11-17T12:58:04.000Z';
  return {
    attempts: 1,
    from: at,
    to: at,
    isComplete: true,
    targets: found.map(({ url, ...error }) => ({
      url,
      posts: 1,
      failed: 1,
      lastAt: at,
      isFailing: true,
      errors: [{ ...error, count: 1, firstAt: at, lastAt: at, sampleDeliveryId: 'dlv_1' }],
    })),
  };
}
