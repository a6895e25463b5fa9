import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openLog } from '../../log.ts';
import type { SourcePlace } from '../../stream/config/config-bucket.ts';
import type { PulledRequest } from '../../stream/events/requests.ts';
import { isTooEarly } from './is-too-early.ts';

const log = openLog({ level: 'silent', pretty: false });

/** Whether a request of this age is given back by a process that sees its source like this. */
function judge(place: SourcePlace, { cell = 'eu', ageMs = 0 }: { cell?: string | undefined; ageMs?: number } = {}) {
  const request = {
    sourceId: 'src_1',
    place: 'EVENTS-0/1',
    postpone: (mostMs: number) => ageMs <= mostMs,
  } as Partial<PulledRequest> as PulledRequest;
  const settings = cell === '' ? {} : { cell };
  return isTooEarly(request, { settings, config: { placeOf: () => place }, log });
}

suite('a request that comes before its configuration', () => {
  test('is given back for as long as its source is known to be elsewhere', () => {
    assert.equal(judge('here'), false);
    assert.equal(judge('behind'), true);
    assert.equal(judge('behind', { ageMs: 1e12 }), true);
  });

  test('is given back for an hour if its source is not known: then it was deleted long ago', () => {
    assert.equal(judge('unknown', { ageMs: 60_000 }), true);
    assert.equal(judge('unknown', { ageMs: 3_600_001 }), false);
  });

  test('is taken as ever in an installation without cells', () => {
    assert.equal(judge('unknown', { cell: '' }), false);
    assert.equal(judge('behind', { cell: '' }), false);
  });
});
