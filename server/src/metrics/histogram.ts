import { Histogram as PromHistogram } from 'prom-client';

export type Histogram = { observe(seconds: number): void };

type Declared = { name: string; help: string; buckets: readonly number[] };

/** Observing with prom-client's own hashes labels, and costs a delivery as much as a signature. Here it is an addition. */
export function openHistogram(declared: Declared): Histogram & { metric: PromHistogram } {
  const { buckets } = declared;
  const counts = Array.from({ length: buckets.length + 1 }, () => 0);
  let sum = 0;
  return {
    metric: new Counted(declared, () => ({ counts, sum })),
    observe(seconds) {
      let at = 0;
      while (seconds > (buckets[at] ?? Infinity)) at += 1;
      counts[at] = (counts[at] ?? 0) + 1;
      sum += seconds;
    },
  };
}

type Counts = { counts: readonly number[]; sum: number };

/** A histogram that prom-client serves, with numbers that were counted elsewhere. */
class Counted extends PromHistogram {
  readonly #declared: Declared;
  readonly #read: () => Counts;

  constructor(declared: Declared, read: () => Counts) {
    const { name, help, buckets } = declared;
    super({ name, help, buckets: [...buckets], registers: [] });
    this.#declared = declared;
    this.#read = read;
  }

  /** Asked for by prom-client's registry, though its types do not say so. */
  async getForPromString() {
    const { name, help } = this.#declared;
    return { name, help, type: 'histogram', values: this.#values(), aggregator: 'sum' };
  }

  #values() {
    const { name, buckets } = this.#declared;
    const { counts, sum } = this.#read();
    let count = 0;
    const upTo = [...buckets, '+Inf'].map((le, index) => {
      count += counts[index] ?? 0;
      return { labels: { le }, value: count, metricName: `${name}_bucket` };
    });
    const total = { labels: {}, value: sum, metricName: `${name}_sum` };
    return [...upTo, total, { labels: {}, value: count, metricName: `${name}_count` }];
  }
}
