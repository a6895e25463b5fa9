/** The figures of the calculators are held against the measurements, the server and the page of scale. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { RETRY_WINDOW_MS } from '@millrace/contract/retry-schedule';
import { planScale } from '../cli/src/scale/plan-scale.ts';
import { EXAMPLE_PRICES, readPrices } from '../cli/src/scale/prices.ts';
import { USUAL_LOAD } from '../cli/src/scale/scale-load.ts';
import { bytes } from '../cli/src/sizing/describe-sizing.ts';
import { type Figure, figure, FIGURES } from '../cli/src/sizing/figures.ts';
import { readConfig } from '../server/src/config.ts';
import { DEFAULTS } from '../server/src/read-setting.ts';
import { layout } from '../server/src/stream/layout/layout.ts';
import { sizesOn } from '../server/src/stream/layout/stream-sizes.ts';
import { FIGURES_PAGE, figuresPage } from './print-figures.ts';
import { ROOT_DIR } from './project-files.ts';

const read = (file: string) => readFileSync(join(ROOT_DIR, file), 'utf8');
const STORE_BYTES = 1e12;

suite('the figures of the calculators', () => {
  test('are those of their page: `node scripts/print-figures.ts --write`', () => {
    assert.equal(read(FIGURES_PAGE), figuresPage());
  });

  test('stand in the measurements, where they say so', () => {
    const quoted = Object.entries<Figure>(FIGURES).filter(([, { basis }]) => basis === 'measured');
    assert.ok(quoted.length >= 3);
    for (const [name, { value, says }] of quoted) {
      assert.ok(says, name);
      assert.ok(read(`docs/measurements/${says.page}`).includes(says.words), `${name}: ${says.page} has other words`);
      assert.ok(says.words.includes(value.toLocaleString('en-US')), `${name}: ${says.words} without ${value}`);
    }
  });

  test('are the constants of the server, where they say so', () => {
    const settings = { eventStreams: 4, laneStreams: 2, outcomeStreams: 2, retentionMs: 1, dedupWindowMs: 1 };
    const three = { ...settings, replicas: 3 as const };
    const { streams } = layout(three, sizesOn(three, STORE_BYTES));
    const shareOf = (start: string) =>
      streams.filter(({ name }) => name.startsWith(start)).reduce((sum, { max_bytes }) => sum + max_bytes, 0) /
      STORE_BYTES;
    const shares = [shareOf('EVENTS'), shareOf('LANES'), shareOf('DEAD'), shareOf('OUTCOMES')];
    assert.deepEqual(
      shares.map((share) => Math.round(share * 1_000) / 1_000),
      [figure('store.events'), figure('store.lanes'), figure('store.dead-letters'), figure('store.outcomes')],
    );
    assert.equal(figure('deliver.slots'), Number(DEFAULTS.MILLRACE_MAX_IN_FLIGHT));
    assert.equal(figure('retry.hours'), RETRY_WINDOW_MS / 3_600_000);
    const [, opened] = /const MOST_OPENED = ([\d_]+)/.exec(read('server/src/stream/config/destination-index.ts')) ?? [];
    // A cache of two generations.
    assert.equal(figure('deliver.cached-destinations'), 2 * Number(opened?.replaceAll('_', '')));
    for (const name of ['MILLRACE_EVENT_STREAMS', 'MILLRACE_LANE_STREAMS', 'MILLRACE_OUTCOME_STREAMS']) {
      const refuses = (count: number) => JSON.stringify(readConfig({ [name]: String(count) })).includes(name);
      assert.deepEqual([figure('streams.most'), figure('streams.most') + 1].map(refuses), [false, true], name);
    }
  });
});

test('the page of scale has the answers of the calculator', () => {
  const prices = readPrices(EXAMPLE_PRICES);
  assert.ok(prices.ok);
  const rows = [...read('docs/run/scale.md').matchAll(/^\| (10,000|100,000|1,000,000) \| (\d[^|]*)(.*) \|$/gm)];
  assert.equal(rows.length, 3);
  for (const [line, rate = ''] of rows) {
    const eventsPerSecond = Number(rate.replaceAll(',', ''));
    const plan = planScale({ ...USUAL_LOAD, eventsPerSecond, destinations: 100_000, rowsKept: 0.01 }, prices.prices);
    const part = (name: string) => plan.parts.find((each) => each.part === name);
    const cells = [
      rate,
      plan.cells.count,
      part('nats')?.processes,
      `${plan.streams.events} + ${plan.streams.outcomes}`,
      part('collect')?.processes,
      part('deliver')?.processes,
      part('control')?.processes,
      part('postgres')?.cores,
      bytes(part('nats')?.diskBytes ?? 0),
      bytes(part('postgres')?.diskBytes ?? 0),
      bytes(plan.traffic.outBytes),
      Math.round(plan.cost.total).toLocaleString('en-US'),
    ];
    assert.equal(line, `| ${cells.join(' | ')} |`);
  }
});
