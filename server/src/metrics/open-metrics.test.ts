import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { openMetrics } from './open-metrics.ts';

suite('metrics', () => {
  test('are shown as they were counted, the ones with known labels from 0 on', async () => {
    const metrics = openMetrics();
    metrics.counter('millrace_calls_accepted_total').add(20);
    const dead = metrics.counters('millrace_dead_letters_total');
    dead('expired').add();
    dead('expired').add();
    metrics.histogram('millrace_append_seconds').observe(0.003);
    const text = await metrics.text();
    for (const line of [
      'millrace_calls_accepted_total 20',
      'millrace_dead_letters_total{reason="expired"} 2',
      'millrace_dead_letters_total{reason="lane_full"} 0',
      'millrace_append_seconds_bucket{le="0.0025"} 0',
      'millrace_append_seconds_bucket{le="0.005"} 1',
    ]) {
      assert.ok(text.includes(`${line}\n`), line);
    }
    assert.ok((await metrics.text()).includes('millrace_calls_accepted_total 20\n'), 'looking changes nothing');
  });

  test('claim nothing about what nobody here can know', async () => {
    const metrics = openMetrics();
    assert.match(await metrics.text(), /^# TYPE millrace_recorder_lag_seconds gauge$/m);
    assert.doesNotMatch(await metrics.text(), /^millrace_recorder_lag_seconds/m);
    metrics.gauge('millrace_recorder_lag_seconds', () => 1.5);
    metrics.gauges('millrace_lanes', () => new Map([['failing', 3]]));
    assert.match(await metrics.text(), /^millrace_recorder_lag_seconds 1.5$/m);
    assert.match(await metrics.text(), /^millrace_lanes\{state="failing"\} 3$/m);
  });

  test('never have more than 65 values of a label', async () => {
    const metrics = openMetrics();
    const refused = metrics.counters('millrace_calls_refused_total');
    for (let i = 0; i < 1_000; i += 1) refused(`code_${i}`).add();
    const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('millrace_calls_refused_total{'));
    assert.equal(lines.length, 65);
    assert.ok(lines.includes(`millrace_calls_refused_total{code="other"} ${1_000 - 64}`));
  });
});
