import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { System } from '@millrace/contract/control';
import { tellSystem } from './tell-system.ts';

const stream = {
  name: 'EVENTS-0',
  messages: 1,
  bytes: 1,
  maxBytes: 10,
  fill: 0.1,
  leader: 'n1',
  replicas: 3,
  laggingReplicas: 0,
};
const well: System = {
  at: '2026-11-16T12:00:00Z',
  versions: { millrace: '1.0.0', node: 'v24', nats: '2.15', postgres: '15' },
  process: { roles: ['control'], startedAt: '2026-11-16T11:00:00Z', settings: [] },
  processes: [],
  deliverProcesses: [{ id: 'a', version: '1.0.0' }],
  nats: { isReachable: true, streams: [stream], buckets: [] },
  lanes: { inUse: 1, deliveries: 12, bytes: 1, byState: { failing: 1 } },
  postgres: { isReachable: true, answeredInMs: 3, bytes: 1 },
};

suite('the sentence of the system', () => {
  test('says that all is well when it is', () => {
    const { state, rest, lanes } = tellSystem(well);
    assert.deepEqual([state, rest], ['delivered', 'NATS, PostgreSQL and 1 deliver process answer.']);
    assert.match(lanes, /^1 destination has deliveries that wait, 12 deliveries in all/);
  });

  test('names the worst trouble first', () => {
    const nats = { isReachable: false, streams: null, buckets: null };
    assert.equal(tellSystem({ ...well, nats, deliverProcesses: [] }).words, 'NATS does not answer control.');
    const full = { ...well.nats, streams: [{ ...stream, fill: 0.93, leader: null }] };
    const told = tellSystem({ ...well, nats: full });
    assert.equal(told.words, 'EVENTS-0 is 93.0 % full.');
    assert.match(told.rest, /no leader now/);
  });

  test('tells versions that differ', () => {
    assert.match(
      tellSystem({ ...well, deliverProcesses: [{ id: 'a', version: '0.9.0' }] }).words,
      /deliver runs 0\.9\.0/,
    );
  });
});
