import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { bytes, count, counted, milliseconds, percent, short } from './numbers.ts';
import { cutText, cutUrl, hostOf, shortId, visible } from './texts.ts';
import { clock, distance, duration, moment, zone } from './times.ts';

const plain = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ');

suite('figures', () => {
  test('have a comma for thousands, and k and M from 10,000 on axes', () => {
    assert.deepEqual([1_234_567, 0].map(count), ['1,234,567', '0']);
    assert.deepEqual([9_999, 10_000, 12_345, 2_500_000, 2.5].map(short), ['9,999', '10k', '12.3k', '2.5M', '2.5']);
    assert.equal(counted(1, 'delivery', 'deliveries'), '1 delivery');
    assert.equal(counted(1_204, 'delivery', 'deliveries'), '1,204 deliveries');
  });

  test('of a share never say all when something is missing, and never nothing when there is something', () => {
    assert.deepEqual([1, 0.9973, 0.99999, 0.5, 0.000_01, 0].map(percent), [
      '100',
      '99.73',
      '99.99',
      '50.0',
      '<0.1',
      '0',
    ]);
  });

  test('of sizes and times have their unit', () => {
    assert.deepEqual([63, 16_384, 5_000_000].map(bytes).map(plain), ['63 bytes', '16 KiB', '4.8 MiB']);
    assert.deepEqual([2.34, 224, 5_000].map(milliseconds).map(plain), ['2.3 ms', '224 ms', '5 s']);
  });
});

suite('times', () => {
  const now = new Date(2026, 10, 17, 14, 36, 20).getTime();

  test('within a day are the clock, older ones have their day, others their year', () => {
    assert.equal(clock(now), '14:36:20');
    assert.equal(plain(moment(now - 3_600_000, now)), '13:36:20');
    assert.equal(plain(moment(new Date(2026, 10, 15, 9, 12), now)), '15 Nov 09:12');
    assert.equal(plain(moment(new Date(2025, 10, 15, 9, 12), now)), '15 Nov 2025 09:12');
  });

  test('have a distance of at most two units', () => {
    assert.deepEqual([412, 42_000, 71_000, 12_120_000, 90_000_000, 400_000_000].map(duration).map(plain), [
      '412 ms',
      '42 s',
      '1 min 11 s',
      '3 h 22 min',
      '1 day 1 h',
      '4 days',
    ]);
    assert.equal(plain(distance(now - 2_280_000, now)), '38 min ago');
    assert.equal(plain(distance(now + 71_000, now)), 'in 1 min 11 s');
    assert.equal(distance(now, now), 'now');
  });

  test('name their zone once', () => {
    assert.match(zone(), /UTC/);
  });
});

suite('texts of others', () => {
  test('show what cannot be seen', () => {
    assert.equal(visible('a\u200bb\u202ec\u0000'), 'a\\u200bb\\u202ec\\u0000');
    assert.equal(visible('two\nlines\tand 😀'), 'two\nlines\tand 😀');
  });

  test('are cut where they tell the least', () => {
    assert.equal(shortId('dlv_01kxv0m6zq8t4w9c2e5rhb7n3d'), 'dlv_…hb7n3d');
    assert.equal(shortId('u_48213'), 'u_48213');
    assert.equal(cutText('😀'.repeat(30), 4), '😀😀😀…');
    assert.equal(cutUrl(`https://hooks.example/${'a'.repeat(60)}/orders`).length, 48);
    assert.equal(hostOf('https://hooks.example:8443/orders'), 'hooks.example:8443');
    assert.equal(hostOf('not a url'), 'not a url');
  });
});
