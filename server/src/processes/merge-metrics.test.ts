import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { mergeMetrics } from './merge-metrics.ts';

const HEAD = '# HELP calls_total Calls, by {status}\n# TYPE calls_total counter';

suite('metrics of several processes', () => {
  test('are one page: a head for each metric, a label for each process', () => {
    const merged = mergeMetrics([
      { process: 'supervisor', text: '# HELP up Up\n# TYPE up gauge\nup 1\n' },
      {
        process: '1',
        text: `${HEAD}\ncalls_total{status="2 00",le="+Inf"} 3\n\n# HELP up Up\n# TYPE up gauge\nup 1e-9\n`,
      },
      { process: '2', text: `${HEAD}\ncalls_total{status="200"} 4\n` },
      { process: '3', text: '' },
    ]);
    assert.equal(
      merged,
      [
        '# HELP up Up',
        '# TYPE up gauge',
        'up{process="supervisor"} 1',
        'up{process="1"} 1e-9',
        ...HEAD.split('\n'),
        'calls_total{process="1",status="2 00",le="+Inf"} 3',
        'calls_total{process="2",status="200"} 4',
        '',
      ].join('\n'),
    );
  });

  test('has one head for a metric that two versions describe differently, and no line that is no sample', () => {
    const merged = mergeMetrics([
      { process: '1', text: `${HEAD}\ncalls_total 3\n# EOF\n` },
      { process: '2', text: '# HELP calls_total All calls\n# TYPE calls_total counter\ncalls_total 4\n' },
    ]);
    assert.equal(merged, `${HEAD}\ncalls_total{process="1"} 3\ncalls_total{process="2"} 4\n`);
  });
});
