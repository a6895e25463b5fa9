import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { newTokenBucket, refill, secondsToToken } from './token-bucket.ts';

suite('a token bucket', () => {
  test('fills at its rate, up to its burst', () => {
    const bucket = newTokenBucket(0, 1_000);
    assert.equal(refill(bucket, 1_250, 10, 20), 2.5);
    assert.equal(refill(bucket, 1_500, 10, 20), 5);
    assert.equal(refill(bucket, 3_600_000, 10, 20), 20);
  });

  test('says how long it takes until there is a whole token', () => {
    const bucket = newTokenBucket(0.5, 0);
    assert.equal(secondsToToken(bucket, 10), 0.05);
    assert.equal(refill(bucket, 50, 10, 20), 1);
    assert.equal(secondsToToken(bucket, 10), 0);
  });

  test('pays a debt before it gives tokens', () => {
    const bucket = newTokenBucket(20, 0);
    bucket.tokens -= 120;
    assert.equal(secondsToToken(bucket, 10), 10.1);
    assert.equal(refill(bucket, 10_100, 10, 20), 1);
  });

  test('gives the same number of tokens however often it is asked', () => {
    const often = newTokenBucket(0, 0);
    for (let now = 1; now <= 1_000; now += 1) refill(often, now, 8, 100);
    assert.ok(Math.abs(often.tokens - refill(newTokenBucket(0, 0), 1_000, 8, 100)) < 1e-9);
  });

  test('follows a rate and a burst that change', () => {
    const bucket = newTokenBucket(0, 0);
    refill(bucket, 1_000, 10, 20);
    assert.equal(refill(bucket, 2_000, 5, 20), 15);
    assert.equal(refill(bucket, 2_000, 5, 8), 8);
  });
});
