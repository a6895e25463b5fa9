import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openMetrics } from '../../metrics/open-metrics.ts';
import { aDelivery, aWebhook, failure, status } from '../../../testing/samples.ts';
import { attempt } from './attempt.ts';
import { countPosts } from './count-posts.ts';

test('a batch counts as one POST to each target, by its answer', async () => {
  const metrics = openMetrics();
  const urls = ['https://a.example/', 'https://b.example/', 'https://c.example/'];
  const answers = [status(200), status(503), failure('timeout')].values();
  const post = countPosts(async () => answers.next().value ?? assert.fail(), metrics);
  const webhook = aWebhook({ format: 'batch', policy: 'all', targets: urls.map((url) => ({ url, headers: [] })) });
  const batch = ['a', 'b', 'c', 'd'].map((id) => ({ delivery: aDelivery({ id }) }));
  const made = await attempt(batch, webhook, { post, windowMs: 1_000, now: () => 1 });
  assert.equal(made.events, 4);
  const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('millrace_posts_total'));
  assert.deepEqual(
    lines.filter((line) => !line.endsWith(' 0')).toSorted(),
    ['2xx', '5xx', 'none'].map((answer) => `millrace_posts_total{answer="${answer}"} 1`),
  );
});
