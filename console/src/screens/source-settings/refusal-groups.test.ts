import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { groupRefusals, readable } from './refusal-groups.ts';

const item = (code: string, day: string, count: number) => ({
  code,
  day,
  count,
  lastAt: `${day}T12:00:00.000Z`,
  samples: [{ at: `${day}T11:00:00.000Z`, message: `${code} on ${day}` }],
});

suite('refused calls', () => {
  test('are grouped by code over all days, most frequent first', () => {
    const items = [
      item('too_deep', '2026-11-16', 3),
      item('id_required', '2026-11-16', 2),
      item('id_required', '2026-11-15', 9),
    ];
    const groups = groupRefusals({ items });
    assert.deepEqual(
      groups.map(({ code, count, lastAt, message }) => [code, count, lastAt, message]),
      [
        ['id_required', 11, '2026-11-16T12:00:00.000Z', 'id_required on 2026-11-16'],
        ['too_deep', 3, '2026-11-16T12:00:00.000Z', 'too_deep on 2026-11-16'],
      ],
    );
    assert.deepEqual(
      groups[0]?.days.map(({ day }) => day),
      ['2026-11-15', '2026-11-16'],
    );
  });

  test('show their beginning as it is when it was cut', () => {
    assert.equal(readable('{"a":1}'), '{\n  "a": 1\n}');
    assert.equal(readable('{"a":"cut o'), '{"a":"cut o');
  });
});
