import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { CurrentWorkspace } from './model.ts';
import { toDocument, toYaml } from './write-file.ts';

const workspace = (name: string, event: string): CurrentWorkspace => ({
  schemas: new Map(),
  definitions: new Map(),
  sources: new Map([
    [
      name,
      {
        id: 'src_1',
        config: { enabled: true, rateLimitPerSecond: null, writeKeys: ['First key'], blockedEvents: [event] },
        destinations: new Map(),
      },
    ],
  ]),
});

test('a file has only what differs from the defaults', () => {
  assert.equal(
    toYaml(workspace('web', 'Debug Ping')).split('\n').slice(1).join('\n'),
    'version: 1\nsources:\n  web:\n    writeKeys:\n      - First key\n    blockedEvents:\n      - Debug Ping\n',
  );
});

test('names with control characters are escaped in the file, and read back as they were', () => {
  const given = workspace('we\u009b2J\u202eb', 'two\nlines \u0085 \u200b "quoted" \\u0041');
  const yaml = toYaml(given);
  assert.doesNotMatch(yaml, /[\u007f-\u009f\u200b-\u202e]/);
  assert.deepEqual(parse(yaml), toDocument(given));
});
