/**
 * The console under load. CI runs small sizes with room for a busy machine; `node e2e/src/console/console-load.test.ts --full` runs the
 * whole ones for docs/measurements on a quiet one.
 */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { type DemoStage, openDemoStage } from './console-stage.ts';
import { fillCounts, fillDeliveries } from './fill-record.ts';
import { asker } from './find-ids.ts';
import { scrollDown, watchDrawing, watchFrames, watchMenu } from './measure-page.ts';
import { openSteadyCalls } from './steady-calls.ts';
import { launchBrowser, settled, type Visit, visit } from './visitor.ts';
import { waitFor } from './wait-for.ts';

const isFull = process.argv.includes('--full');
const DELIVERIES = isFull ? 10_000_000 : 100_000;
const TAIL_MS = isFull ? 300_000 : 5_000;
/** How many times the budget a shared machine of CI may take. */
const ROOM = isFull ? 1 : 10;
const FRAME_MS = 32;
const PAGE_MS = 300;
const DRAW_MS = 200;
const FIRST_LOAD_MS = 2_000;
const CPU_SLOWED = 4;
const GROWTH_BYTES = isFull ? 10_000_000 : 5_000_000;
const CALLS_PER_SECOND = 1_000;

const opened = new AsyncDisposableStack();
let stage: DemoStage;
let browser: Browser;

before(async () => {
  stage = opened.use(await openDemoStage(1));
  browser = await launchBrowser({ isLight: !isFull });
  opened.defer(() => browser.close());
});
after(() => opened.disposeAsync());

suite('the console', () => {
  test(`is ready within ${FIRST_LOAD_MS} ms of its first load, with the processor slowed ${CPU_SLOWED} times`, async (t) => {
    await using person = await open();
    const cdp = await person.page.context().newCDPSession(person.page);
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWED });
    await person.page.addInitScript(watchMenu);
    await person.page.goto('/', { waitUntil: 'commit' });
    await settled(person.page);
    const readyMs = await person.page.evaluate(
      () => new Promise<number>((resolve) => requestAnimationFrame(() => resolve(performance.now()))),
    );
    await person.page.waitForFunction(() => window.millraceAnswersMs !== undefined);
    const menuMs = await person.page.evaluate(() => window.millraceAnswersMs);
    t.diagnostic(
      `the menu answers after ${Math.round(menuMs ?? NaN)} ms, everything is there after ${Math.round(readyMs)} ms`,
    );
    assert.ok(readyMs < FIRST_LOAD_MS * ROOM, `${readyMs} ms`);
  });

  test(`draws 30 days within ${DRAW_MS} ms of the answer`, async (t) => {
    fillCounts(stage.postgres);
    await using person = await open();
    await person.page.addInitScript(watchDrawing);
    await person.page.goto('/');
    await settled(person.page);
    await person.page.getByText('30 d', { exact: true }).click();
    let drawMs: number | undefined;
    await waitFor('the chart is drawn', async () => {
      drawMs = await person.page.evaluate(() => window.millraceDrawMs?.('/api/v1/metrics/deliveries'));
      return drawMs !== undefined;
    });
    t.diagnostic(`drawn ${Math.round(drawMs ?? 0)} ms after the answer`);
    assert.ok((drawMs ?? Infinity) < DRAW_MS * ROOM, `${drawMs} ms`);
  });

  test(`scrolls through ${DELIVERIES.toLocaleString('en')} deliveries without gaps, each page within ${PAGE_MS} ms`, async (t) => {
    fillDeliveries(stage.postgres, DELIVERIES);
    await using person = await open();
    await person.page.goto('/deliveries?range=7d');
    await settled(person.page);
    const wanted = isFull ? 5_000 : 750;
    const { rows, gaps, pageMs } = await person.page.evaluate(scrollDown, wanted);
    const slowest = Math.max(...pageMs);
    const middle = pageMs.toSorted((a, b) => a - b)[Math.floor(pageMs.length / 2)] ?? 0;
    t.diagnostic(
      `${rows} rows, ${pageMs.length} pages: median ${Math.round(middle)} ms, slowest ${Math.round(slowest)} ms`,
    );
    assert.deepEqual(gaps, []);
    assert.ok(rows >= wanted && pageMs.length > 3, `${rows} rows`);
    assert.ok(middle < PAGE_MS * ROOM, `${middle} ms`);
  });

  test(`shows ${CALLS_PER_SECOND} calls a second live, with frames under ${FRAME_MS} ms and steady memory`, async (t) => {
    const ask = asker(stage, stage.token);
    const source = await ask<{ id: string; writeKeys: { key: string }[] }>('/sources', { name: 'Load' });
    const writeKey = source.writeKeys[0]?.key ?? '';
    await using calls = await openSteadyCalls({ collectUrl: stage.collectUrl, writeKey, perSecond: CALLS_PER_SECOND });
    await using person = await open();
    await person.page.goto(`/sources/${source.id}`);
    await settled(person.page);
    // The page keeps 500 rows: memory is steady once they are there.
    await waitFor('the tail is full', () =>
      person.page.evaluate(() => document.querySelectorAll('main tbody tr').length > 20),
    );
    await person.page.evaluate(watchFrames, TAIL_MS / 4);
    const before = await heapBytes(person);
    const workedMs = await openWorkClock(person);
    const { p95, longest, frames } = await person.page.evaluate(watchFrames, TAIL_MS);
    const perFrameMs = (await workedMs()) / frames;
    const grown = (await heapBytes(person)) - before;
    t.diagnostic(
      `${calls.sent()} calls sent, ${Math.round(calls.rate())} a second; ${frames} frames, p95 ${p95} ms, longest ${longest} ms`,
    );
    t.diagnostic(
      `memory ${Math.round(before / 1e6)} MB, grown by ${(grown / 1e6).toFixed(1)} MB in ${TAIL_MS / 1_000} s`,
    );
    t.diagnostic(`the page itself works ${perFrameMs.toFixed(1)} ms of processor time for each frame`);
    assert.match(await person.page.locator('main').innerText(), /Sampled: [\d,]+ events? left out/);
    assert.ok(perFrameMs < FRAME_MS, `${perFrameMs} ms of work for a frame`);
    // The time between frames is also that of everything else on a shared machine.
    if (isFull) assert.ok(p95 < FRAME_MS, `${p95} ms`);
    assert.ok(grown < GROWTH_BYTES, `${grown} bytes`);
    assert.deepEqual(person.complaints, []);
  });
});

function open(): Promise<Visit> {
  return visit(browser, { url: stage.url, account: stage.accounts.owner });
}

/** Processor time of the page's main thread: unlike the time between frames it does not grow when others use the machine. */
async function openWorkClock({ page }: Visit): Promise<() => Promise<number>> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  const read = async () => {
    const { metrics } = await cdp.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000;
  };
  const before = await read();
  return async () => (await read()) - before;
}

async function heapBytes({ page }: Visit): Promise<number> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('HeapProfiler.collectGarbage');
  const { usedSize } = await cdp.send('Runtime.getHeapUsage');
  await cdp.detach();
  return usedSize;
}
