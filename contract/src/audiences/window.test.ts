import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { bucketOf, countsUntil, definitionKey, isPlaceholderId, parseWindow, resolutionOf } from './index.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

suite('a window', () => {
  test('is a number of minutes, hours or days', () => {
    assert.equal(parseWindow('90m'), 90 * MINUTE);
    assert.equal(parseWindow('12h'), 12 * HOUR);
    assert.equal(parseWindow('30d'), 30 * DAY);
    assert.equal(parseWindow('1095d'), 1_095 * DAY);
    for (const text of ['', '0d', '1w', '1.5d', '-1d', '30', 'd', ' 1d', '1096d', '9999999h'])
      assert.equal(parseWindow(text), undefined);
  });

  test('is counted by the minute up to 3 days, by the hour up to 90, by the UTC day beyond', () => {
    assert.equal(resolutionOf(3 * DAY), MINUTE);
    assert.equal(resolutionOf(3 * DAY + MINUTE), HOUR);
    assert.equal(resolutionOf(90 * DAY), HOUR);
    assert.equal(resolutionOf(90 * DAY + HOUR), DAY);
  });

  test('never ends too early, and late by one bucket at most', () => {
    for (const windowMs of [MINUTE, 3 * DAY, 7 * DAY, 90 * DAY, 400 * DAY]) {
      for (const eventAt of [0, 1, -1, 1_767_225_599_999, 1_767_225_600_000]) {
        const late = countsUntil(eventAt, windowMs) - (eventAt + windowMs);
        assert.ok(late > 0 && late <= resolutionOf(windowMs));
      }
    }
  });

  test('has buckets before 1970 too', () => {
    assert.equal(bucketOf(-1, MINUTE), -1);
    assert.equal(bucketOf(0, MINUTE), 0);
  });
});

test('a key is the name in lower case, with one _ for each run of other signs', () => {
  assert.equal(definitionKey('Big Spenders (30 days)'), 'big_spenders_30_days');
  assert.equal(definitionKey('  --Très  Élégant!! '), 'très_élégant');
  assert.equal(definitionKey('Ｆｕｌｌ　Ｗｉｄｔｈ'), 'full_width');
  assert.equal(definitionKey('हिन्दी पाठक'), 'हिन्दी_पाठक');
  assert.equal(definitionKey('ﬁrst ½'), 'first_1_2');
  assert.equal(definitionKey('***'), '');
});

test('placeholders are not ids', () => {
  for (const id of [
    'null',
    'NULL',
    ' undefined ',
    '-1',
    'Anonymous',
    '0',
    '0000-00',
    '---',
    '00000000-0000-0000-0000-000000000000',
  ])
    assert.ok(isPlaceholderId(id), id);
  for (const id of ['1', '10', 'a', '-2', 'null-island', '0a', 'anonymous2']) assert.ok(!isPlaceholderId(id), id);
  assert.ok(isPlaceholderId('0'.repeat(10_000)));
});
