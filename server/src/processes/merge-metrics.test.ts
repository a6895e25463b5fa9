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
});
