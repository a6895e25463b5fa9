import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openLog } from '../../log.ts';
import { openMetrics } from '../../metrics/open-metrics.ts';
import type { SourcePlace } from '../../stream/config/config-bucket.ts';
import type { PulledRequest } from '../../stream/events/requests.ts';
import { meetRequests } from './meet-request.ts';

const log = openLog({ level: 'silent', pretty: false });
const HOUR_MS = 3_600_000;

/** A process that sees the source like this gets a request of this age; returns what it does with it. */
async function meet(place: SourcePlace, { cell = 'eu', ageMs = 0, retryScale = 1 } = {}) {
  const done: string[] = [];
  const metrics = openMetrics();
  const request = {
    sourceId: 'src_1',
    place: 'EVENTS-0/1',
    postpone: (mostMs: number) => ageMs <= mostMs,
  } as Partial<PulledRequest> as PulledRequest;
  const requests = { take: () => void done.push('taken'), keep: (_: unknown, why: string) => void done.push(why) };
  const settings = cell === '' ? { retryScale } : { cell, retryScale };
  meetRequests({ settings, config: { placeOf: () => place }, requests, metrics, log })(request);
  const [, postponed = '0'] = /^millrace_requests_postponed_total (\d+)$/m.exec(await metrics.text()) ?? [];
  return Number(postponed) > 0 ? [...done, 'postponed'] : done;
}

suite('a request that comes before its configuration', () => {
  test('is taken when the entry of its source names the cell', async () => {
    assert.deepEqual(await meet('here', { ageMs: 10 * HOUR_MS }), ['taken']);
  });

  test('is given back for an hour, and counted', async () => {
    assert.deepEqual(await meet('unknown', { ageMs: HOUR_MS }), ['postponed']);
    assert.deepEqual(await meet('behind', { ageMs: HOUR_MS }), ['postponed']);
  });

  test('is kept in quarantine after that: without its configuration it would be acknowledged and reach nobody', async () => {
    assert.deepEqual(await meet('unknown', { ageMs: HOUR_MS + 1 }), [
      'its source was not known in this cell for an hour',
    ]);
    assert.deepEqual(await meet('behind', { ageMs: HOUR_MS + 1 }), [
      'the entry of its source did not name this cell for an hour',
    ]);
    assert.equal((await meet('unknown', { ageMs: HOUR_MS / 10, retryScale: 20 })).length, 1);
  });

  test('is taken as ever in an installation without cells', async () => {
    assert.deepEqual(await meet('unknown', { cell: '' }), ['taken']);
    assert.deepEqual(await meet('behind', { cell: '' }), ['taken']);
  });
});
