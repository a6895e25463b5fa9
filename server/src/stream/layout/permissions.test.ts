import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { bucketStream, bucketSubject, layout } from './layout.ts';
import { NATS_ROLES, permissionsOf, streamsNeeded } from './permissions.ts';

const COUNTS = { eventStreams: 3, laneStreams: 2, outcomeStreams: 3 };
const { streams, buckets } = layout({ replicas: 1, retentionMs: 1, dedupWindowMs: 1, ...COUNTS }, () => 1_000_000);
const publishes = NATS_ROLES.flatMap((role) => permissionsOf(role, COUNTS).publish);

suite('the permissions', () => {
  test('know every bucket: a role writes it, and a role beside control works with it', () => {
    for (const { name } of buckets) {
      assert.ok(publishes.includes(bucketSubject(name, '>')), `no role may write the bucket ${name}`);
      assert.ok(isNeeded(bucketStream(name)), `no role works with the bucket ${name}`);
    }
  });

  test('know every stream: a role writes it, and a role works with it', () => {
    for (const { name, subjects } of streams) {
      assert.ok(
        subjects.some((subject) => publishes.includes(subject)),
        `no role may write the stream ${name}`,
      );
      assert.ok(isNeeded(name), `no role works with the stream ${name}`);
    }
  });

  test('give no role all of NATS or all of its API', () => {
    for (const subject of publishes)
      assert.doesNotMatch(subject, /^(>|\*|\$JS\.>|\$JS\.API\.>|\$SYS\.>|\$KV\.>|_INBOX)/);
  });
});

function isNeeded(stream: string): boolean {
  return NATS_ROLES.some((role) => streamsNeeded(role, COUNTS).includes(stream));
}
