import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Logger } from '../log.ts';
import { tellStats } from './tell-stats.ts';
import { mockBeats } from '../../testing/mock-beats.ts';

test('stats are told without the memory when the process has no file descriptor to read it with', (t) => {
  const time = mockBeats(t);
  const tooManyFiles = Object.assign(new Error('EMFILE: too many open files, uv_resident_set_memory'), {
    code: 'EMFILE',
  });
  const rss = t.mock.method(process.memoryUsage, 'rss', () => {
    throw tooManyFiles;
  });
  const told: object[] = [];
  const log = { isLevelEnabled: () => true, debug: (fields: object) => void told.push(fields) } as unknown as Logger;
  const telling = tellStats(() => ({ lanes: 2 }), log);
  time.pass(1_000);
  rss.mock.restore();
  time.pass(1_000);
  telling[Symbol.dispose]();
  assert.deepEqual(
    told.map((fields) => ['lanes' in fields, 'rssMb' in fields]),
    [
      [true, false],
      [true, true],
    ],
  );
});
