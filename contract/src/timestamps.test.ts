import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { formatTimestamp, isFormatted, parseTimestamp } from './timestamps.ts';

const momentMs = fc.integer({
  min: Date.parse('0000-01-01T00:00:00.000Z'),
  max: Date.parse('9999-12-31T23:59:59.999Z'),
});

test('every moment we write is read back as the same moment', () => {
  fc.assert(fc.property(momentMs, (ms) => assert.equal(parseTimestamp(formatTimestamp(ms)), ms)));
});

test('every moment is read the same as a number and without its zone', () => {
  fc.assert(
    fc.property(momentMs, (ms) => {
      assert.equal(parseTimestamp(ms), ms);
      assert.equal(parseTimestamp(formatTimestamp(ms).slice(0, -1)), ms);
    }),
  );
});

test('what is taken for formatted already is what formatting would make of it', () => {
  const digits = (count: number, most: number) => fc.nat(most).map((value) => String(value).padStart(count, '0'));
  const parts = fc.tuple(digits(4, 9_999), digits(2, 13), digits(2, 32), digits(2, 25), digits(2, 61), digits(2, 61));
  fc.assert(
    fc.property(parts, digits(3, 999), ([year, month, day, hour, minute, second], fraction) => {
      const text = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction}Z`;
      const ms = parseTimestamp(text);
      if (ms !== undefined) assert.equal(isFormatted(text), formatTimestamp(ms) === text);
    }),
  );
  assert.equal(isFormatted('2016-12-31T23:59:60.000Z'), false);
  assert.equal(isFormatted('2016-12-31T23:59:59Z'), false);
});

test('the same wall clock is earlier in UTC the further east it hangs', () => {
  const offset = fc.record({ sign: fc.constantFrom('+', '-'), hours: fc.nat(14), minutes: fc.nat(59) });
  const middleMs = fc.integer({ min: 0, max: Date.parse('2100-01-01') });
  fc.assert(
    fc.property(middleMs, offset, (ms, { sign, hours, minutes }) => {
      const zone = `${sign}${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`;
      const eastMs = (sign === '+' ? 1 : -1) * (hours * 60 + minutes) * 60_000;
      assert.equal(parseTimestamp(formatTimestamp(ms).replace('Z', zone)), ms - eastMs);
      assert.equal(parseTimestamp(formatTimestamp(ms).replace('Z', zone.replace(':', ''))), ms - eastMs);
    }),
  );
});

test('the quick reader of the usual form and the reader of all forms agree, on impossible dates too', () => {
  const digits = (count: number) => fc.nat(10 ** count - 1).map((value) => String(value).padStart(count, '0'));
  const parts = fc.tuple(digits(4), fc.nat(13), fc.nat(32), fc.nat(25), fc.nat(61), fc.nat(62), digits(3));
  const two = (value: number) => String(value).padStart(2, '0');
  fc.assert(
    fc.property(parts, ([year, month, day, hour, minute, second, fraction]) => {
      const date = `${year}-${two(month)}-${two(day)}`;
      const clock = `${two(hour)}:${two(minute)}:${two(second)}.${fraction}Z`;
      assert.equal(parseTimestamp(`${date}T${clock}`), parseTimestamp(`${date}t${clock}`));
    }),
    { numRuns: 2_000 },
  );
});

test('a usual form with any character changed is read as another moment or not at all, and never throws', () => {
  fc.assert(
    fc.property(momentMs, fc.nat(23), fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), (ms, at, other) => {
      const text = formatTimestamp(ms);
      const read = parseTimestamp(text.slice(0, at) + other + text.slice(at + 1));
      assert.ok(read === undefined || Number.isInteger(read));
    }),
  );
});

test('whatever is given, the answer is a whole number of milliseconds or none', () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      const read = parseTimestamp(value);
      assert.ok(read === undefined || Number.isInteger(read));
    }),
  );
});

test('minus zero is the epoch like zero', () => {
  assert.equal(parseTimestamp(-0), 0);
  assert.equal(parseTimestamp(-0.5), 0);
});
