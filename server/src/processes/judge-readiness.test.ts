import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { judgeReadiness } from './judge-readiness.ts';
import { restartDelayMs } from './restart-delay.ts';

const good = { number: 1, hasServed: true, reasons: [], missing: [] };
const starting = { number: 2, hasServed: false, reasons: ['it is starting'], missing: [] };

suite('processes together', () => {
  test('are ready when all collect and deliver, and stay so while one works', () => {
    assert.deepEqual(judgeReadiness([good, starting]).reasons, ['process 2: it is starting']);
    assert.deepEqual(judgeReadiness([good, { ...starting, hasServed: true }]), {
      reasons: [],
      missing: ['process 2: it is starting'],
    });
    assert.deepEqual(judgeReadiness([{ ...good, missing: ['control does not use the database'] }, good]), {
      reasons: [],
      missing: ['control does not use the database'],
    });
  });

  test('are not ready when none works, with the reasons of all', () => {
    const lost = { ...good, reasons: ['NATS cannot be reached'] };
    assert.equal(judgeReadiness([lost, { ...lost, number: 2 }]).reasons.length, 2);
  });

  test('start again for ever, twice a minute at least', () => {
    assert.deepEqual([1, 2, 3, 8, 100].map(restartDelayMs), [250, 500, 1_000, 30_000, 30_000]);
  });
});
