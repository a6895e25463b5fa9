import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import * as fc from 'fast-check';
import { widthOf } from '../output/width.ts';
import { cut, fit, harmless, wrap } from './text-width.ts';

// oxlint-disable-next-line no-control-regex -- these must not be left over
const ACTING = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;

suite('texts of others', () => {
  test('cannot move the cursor, clear the screen or reverse the line', () => {
    assert.equal(harmless('\u001b[2J\u001b]0;title\u0007'), '\\u001b[2J\\u001b]0;title\\u0007');
    assert.equal(harmless('a\nb\tc\rd'), 'a\\nb\\tc\\u000dd');
    assert.equal(harmless('evil\u202egnp.exe'), 'evil\\u202egnp.exe');
    assert.equal(harmless('\u009b2J'), '\\u009b2J');
    assert.equal(harmless('lone \ud800 half'), 'lone \\ud800 half');
    assert.equal(harmless('tag \u{e0041}'), 'tag \\ue0041');
    assert.equal(harmless('Größe 日本 מאיה 🎉'), 'Größe 日本 מאיה 🎉', 'what people write stays readable');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        assert.doesNotMatch(harmless(text), ACTING);
      }),
    );
  });

  test('take the columns that a terminal gives them', () => {
    assert.deepEqual(['abc', '日本', 'e\u0301', '🎉', 'ｗ', '한글', ''].map(widthOf), [3, 4, 1, 2, 2, 4, 0]);
    assert.deepEqual([cut('abcdef', 4), cut('日本語', 4), cut('abc', 3), cut('abc', 0)], ['abc…', '日…', 'abc', '']);
    assert.deepEqual([fit('日', 4), fit('7 B', 5, 'right')], ['日  ', '  7 B']);
    assert.deepEqual(wrap('日本語abc', 4), ['日本', '語ab', 'c']);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 40 }), (text, columns) => {
        const safe = harmless(text);
        assert.equal(widthOf(fit(safe, columns)), columns);
        assert.equal(wrap(safe, columns + 1).join(''), safe);
        assert.ok(wrap(safe, columns + 1).every((line) => widthOf(line) <= columns + 1));
      }),
    );
  });
});
