import { createHistogram } from 'node:perf_hooks';
import { collectDefaultMetrics, Counter as PromCounter, Gauge, Registry } from 'prom-client';
import { METRICS, type MetricName, type NameOf } from './declared.ts';
import type { Declared } from './declared-type.ts';
import { openHistogram, type Histogram } from './histogram.ts';
import { watchDelay } from './watch-delay.ts';

export type Counter = { add(count?: number): void };

/** Metrics of a process. Roles ask for counters once and keep them: counting is then an addition. */
export type Metrics = {
  counter(name: NameOf<'counter', false>): Counter;
  /** A counter for each value of the label. */
  counters(name: NameOf<'counter', true>): (value: string) => Counter;
  histogram(name: NameOf<'histogram', false>): Histogram;
  /** Read at each scrape. */
  gauge(name: NameOf<'gauge', false>, read: () => number): void;
  gauges(name: NameOf<'gauge', true>, read: () => Iterable<readonly [string, number]>): void;
  /** Adds the metrics of every Node process. Once a process: it watches the process itself. */
  watchProcess(): Disposable;
  /** Everything, as Prometheus reads it. */
  text(): Promise<string>;
  contentType: string;
};

type Cells = Map<string, { count: number }>;
type Read = () => Iterable<readonly [string, number]>;
/** Values beyond the limit of a label are counted under this name. */
const OTHER = 'other';
const MAX_VALUES = 64;
const NO_HISTOGRAM: Histogram = { observe: () => undefined };

// oxlint-disable-next-line max-lines-per-function -- a factory: its parts share its state
export function openMetrics(all: Readonly<Record<string, Declared>> = METRICS): Metrics {
  const registry = new Registry();
  const cells = new Map<MetricName, Cells>();
  const reads = new Map<MetricName, Read>();
  const histograms = new Map<MetricName, Histogram>();
  for (const [name, declared] of Object.entries(all)) register(name as MetricName, declared);

  /** Prometheus' own objects are filled at each scrape: they cost a hash of their labels at every use. */
  function register(name: MetricName, { kind, label, help, buckets = [] }: Declared): void {
    const options = { name, help, labelNames: label === undefined ? [] : [label], registers: [] };
    const labels = (value: string) => (label === undefined ? {} : { [label]: value });
    switch (kind) {
      case 'counter': {
        const collect = function (this: PromCounter) {
          this.reset();
          for (const [value, { count }] of cells.get(name) ?? []) this.inc(labels(value), count);
        };
        registry.registerMetric(new PromCounter({ ...options, collect }));
        return;
      }
      case 'gauge': {
        const collect = function (this: Gauge) {
          this.reset();
          // A gauge that this process does not read must be absent: 0 would be a claim.
          if (label === undefined) this.remove();
          for (const [value, number] of reads.get(name)?.() ?? []) this.set(labels(value), number);
        };
        registry.registerMetric(new Gauge({ ...options, collect }));
        return;
      }
      case 'histogram': {
        const histogram = openHistogram({ name, help, buckets });
        registry.registerMetric(histogram.metric);
        histograms.set(name, histogram);
      }
    }
  }

  function cellsOf(name: MetricName): Cells {
    const known = cells.get(name);
    if (known !== undefined) return known;
    const made: Cells = new Map();
    cells.set(name, made);
    return made;
  }

  return {
    counter: (name) => counterIn(cellsOf(name), ''),
    counters(name) {
      const ofName = cellsOf(name);
      const made = new Map<string, Counter>();
      const make = (value: string) => {
        const counter = counterIn(ofName, made.size < MAX_VALUES ? value : OTHER);
        if (made.size < MAX_VALUES) made.set(value, counter);
        return counter;
      };
      for (const value of (METRICS[name] as Declared).values ?? []) make(value);
      return (value) => made.get(value) ?? make(value);
    },
    histogram: (name) => histograms.get(name) ?? NO_HISTOGRAM,
    gauge: (name, read) => void reads.set(name, () => [['', read()]]),
    gauges: (name, read) => void reads.set(name, read),
    watchProcess() {
      // Its watch of the event loop is nearly off: `watchDelay` measures the same.
      collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 60_000 });
      for (const { name } of registry.getMetricsAsArray()) {
        if (name.startsWith('nodejs_eventloop_lag')) registry.removeSingleMetric(name);
      }
      const delays = createHistogram();
      // It counts whole numbers from 1 on.
      const watch = watchDelay((lateMs) => delays.record(Math.max(1, Math.round(lateMs * 1e3))));
      reads.set('millrace_event_loop_delay_p99_seconds', () => {
        const seconds = delays.percentile(99) / 1e6;
        delays.reset();
        return [['', seconds]];
      });
      return watch;
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

function counterIn(cells: Cells, value: string): Counter {
  const cell = cells.get(value) ?? { count: 0 };
  cells.set(value, cell);
  return {
    add(count = 1) {
      cell.count += count;
    },
  };
}
