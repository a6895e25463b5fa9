import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Condition, Definition } from '@millrace/contract/audiences';
import { definitionWords, exactnessWords } from './condition-words.ts';
import { plain } from './pieces.ts';

const NAMES = new Map([['aud_1', 'Newsletter, active']]);
const told = (definition: Definition) => plain(definitionWords(definition, NAMES));
const whole = (when: Condition) => told({ kind: 'audience', name: 'A', when });

suite('a condition reads as one sentence', () => {
  const sentences: [Condition, string][] = [
    [{ event: 'Order Completed', atLeast: 1 }, 'A user is in while they did Order Completed.'],
    [
      { event: 'Order Completed', window: '30d', atLeast: 3 },
      'A user is in while they did Order Completed at least 3 times in the last 30 days.',
    ],
    [
      { event: 'Order Completed', window: '1h', exactly: 1 },
      'A user is in while they did Order Completed exactly once in the last 1 hour.',
    ],
    [{ event: 'E', exactly: 0, window: '7d' }, 'A user is in while they did not do E in the last 7 days.'],
    [{ event: 'E', atLeast: 2, lessThan: 5 }, 'A user is in while they did E at least 2 and fewer than 5 times.'],
    [{ type: 'page', atLeast: 1 }, 'A user is in while they viewed a page.'],
    [{ type: 'screen', event: 'Trails', lessThan: 1 }, 'A user is in while they did not view the screen Trails.'],
    [{ type: 'identify', atLeast: 2 }, 'A user is in while they were identified at least 2 times.'],
    [
      {
        event: 'Order Completed',
        where: [{ field: 'properties.currency', op: 'equals', value: 'EUR' }],
        sum: 'properties.revenue',
        window: '30d',
        atLeast: 500.5,
      },
      'A user is in while the sum of revenue of their Order Completed events where currency is EUR in the last 30 days is at least 500.5.',
    ],
    [
      { not: { event: 'Refund Requested', window: '7d', atLeast: 1 } },
      'A user is in while they did not do Refund Requested in the last 7 days.',
    ],
    [{ not: { event: 'E', atLeast: 3 } }, 'A user is in while they did E fewer than 3 times.'],
    [{ not: { event: 'E', lessThan: 3 } }, 'A user is in while they did E at least 3 times.'],
    [{ not: { not: { audience: 'aud_1' } } }, 'A user is in while they are in Newsletter, active.'],
    [{ not: { audience: 'aud_1' } }, 'A user is in while they are not in Newsletter, active.'],
    [{ not: { trait: 'plan', op: 'exists' } }, 'A user is in while it is not so that their trait plan is there.'],
    [
      { trait: 'plan', op: 'one_of', values: ['pro', 'team'] },
      'A user is in while their trait plan is one of pro or team.',
    ],
    [
      {
        all: [
          { event: 'A', atLeast: 1 },
          {
            any: [
              { event: 'B', atLeast: 1 },
              { event: 'C', atLeast: 1 },
            ],
          },
        ],
      },
      'A user is in while they did A and (they did B or they did C).',
    ],
    [{ all: [{ any: [{ event: 'A', atLeast: 1 }] }] }, 'A user is in while they did A.'],
    [
      {
        not: {
          all: [
            { event: 'A', atLeast: 1 },
            { event: 'B', atLeast: 1 },
          ],
        },
      },
      'A user is in while it is not so that (they did A and they did B).',
    ],
  ];
  for (const [condition, sentence] of sentences) test(sentence, () => assert.equal(whole(condition), sentence));
});

test('many values are not all read out', () => {
  const values = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  assert.match(whole({ trait: 'x', op: 'one_of', values }), /is one of a, b, c, d or e or 2 more\.$/);
});

test('a computed trait reads as one sentence', () => {
  const trait = { kind: 'trait', name: 'T', event: 'Order Completed' } as const;
  assert.equal(
    told({ ...trait, compute: 'count', window: '90d' }),
    'Each user has the number of their Order Completed events in the last 90 days.',
  );
  assert.equal(
    told({ ...trait, compute: 'most_frequent', field: 'properties.category' }),
    'Each user has the most frequent category of their Order Completed events.',
  );
  assert.equal(
    told({ ...trait, compute: 'last', field: 'timestamp' }),
    'Each user has the last timestamp of their Order Completed events.',
  );
});

test('how exact a window is belongs to the sentence', () => {
  const exactness = (...windows: string[]) =>
    exactnessWords({
      kind: 'audience',
      name: 'A',
      when: { all: windows.map((window) => ({ event: 'E', window, atLeast: 1 })) },
    });
  assert.equal(exactness(), undefined);
  assert.match(exactness('2d') ?? '', /moves by the minute: .* at most one minute too long/);
  assert.match(exactness('30d') ?? '', /moves by the hour/);
  assert.match(exactness('1d', '200d') ?? '', /windows move by the day \(UTC\) or finer/);
});
