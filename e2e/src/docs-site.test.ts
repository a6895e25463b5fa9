/** The documentation site as a reader meets it: published beside an older release, opened in a browser that records every request. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { promisify } from 'node:util';
import { ROOT_DIR } from '@millrace/engines';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { BROWSER_ARGS, findBrowser } from './browser.ts';

const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
const OLD = { version: '0.0', path: '/0.0/' };
const PATIENCE_MS = 60_000;
const PAGES = [
  '',
  'inside/architecture.html',
  'inside/lanes.html',
  'run/metrics.html',
  'run/sizing.html',
  'use/api/destinations.html',
];

suite('the documentation site', () => {
  const dir = mkdtempSync(join(tmpdir(), 'millrace-docs-'));
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    try {
      const file = join(dir, decodeURIComponent(pathname), pathname.endsWith('/') ? 'index.html' : '');
      const body = readFileSync(file);
      response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  let browser: Browser;
  /** One reader: the browser keeps the scripts that all pages share. */
  let reader: BrowserContext;
  let origin: string;
  let base: string;

  before(async () => {
    writeFileSync(join(dir, 'versions.json'), JSON.stringify([OLD]));
    mkdirSync(join(dir, '0.0'));
    writeFileSync(join(dir, '0.0/index.html'), '<h1>The old one</h1>');
    // Fails on a dead link.
    await promisify(execFile)('npm', ['run', '--silent', 'docs:publish', '--', dir], { cwd: ROOT_DIR });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const [newest] = JSON.parse(readFileSync(join(dir, 'versions.json'), 'utf8')) as (typeof OLD)[];
    base = `${origin}${newest?.path}`;
    browser = await chromium.launch({ executablePath: findBrowser({ isLight: true }), args: BROWSER_ARGS });
    reader = await browser.newContext();
  });
  after(async () => {
    await browser?.close();
    server.close();
    rmSync(dir, { recursive: true, force: true });
  });

  async function open(path: string): Promise<{ page: Page; requests: string[]; complaints: string[] }> {
    const page = await reader.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const requests: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (line) => {
      if (line.type() === 'error' || line.type() === 'warning') complaints.push(line.text());
    });
    await page.goto(`${base}${path}`, { waitUntil: 'networkidle' });
    return { page, requests, complaints };
  }

  test('asks no other origin for anything, and no script complains', async () => {
    for (const path of PAGES) {
      const { page, requests, complaints } = await open(path);
      const foreign = requests.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith('data:'));
      assert.deepEqual({ path, foreign, complaints }, { path, foreign: [], complaints: [] });
      await page.close();
    }
  });

  test('finds a word of a page and an endpoint without a server', async () => {
    const { page } = await open('');
    for (const [words, title] of [
      ['circuit breaker', 'Lanes'],
      ['rotate-secret', 'Destinations'],
    ] as const) {
      await page.keyboard.press('Control+k');
      await page.locator('#localsearch-input').fill(words);
      await page.locator('.VPLocalSearchBox .result', { hasText: title }).first().waitFor();
      await page.keyboard.press('Escape');
    }
    await page.close();
  });

  test('shows every endpoint of openapi.json with its method, its path and an example', async () => {
    const { page } = await open('use/api/index.html');
    const api = JSON.parse(readFileSync(join(ROOT_DIR, 'docs/use/openapi.json'), 'utf8')) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const expected = Object.entries(api.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const shown = (await page.locator('a.endpoint').allInnerTexts()).map((text) => text.replace(/\s+/, ' '));
    assert.deepEqual(shown.toSorted(), expected.toSorted());
    await page.goto(`${base}use/api/sources.html#postSources`);
    await page.locator('#postSources').waitFor();
    assert.match(await page.locator('main').innerText(), /curl -X POST "\$MILLRACE_URL\/api\/v1\/sources"/);
    await page.close();
  });

  test('sizes an installation while a reader types', async () => {
    const { page } = await open('run/sizing.html');
    const disk = page.locator('.sizing-answer tr', { hasText: 'NATS' }).locator('td').last();
    const before = await disk.innerText();
    await page.locator('.sizing-load input[name=eventsPerSecond]').fill('2000');
    await page.locator('.sizing-answer', { hasText: '6,000 events' }).waitFor();
    assert.notEqual(await disk.innerText(), before);
    await page.close();
  });

  test('draws every Mermaid diagram in the page itself', async () => {
    const { page } = await open('inside/architecture.html');
    const blocks = readFileSync(join(ROOT_DIR, 'docs/inside/architecture.md'), 'utf8').split('```mermaid').length - 1;
    assert.equal(await page.locator('.diagram svg').count(), blocks);
    assert.equal(await page.locator('.language-mermaid').count(), 0);
    await page.close();
  });

  test('leads to the same page of another release, and from the root to the newest', async () => {
    const { page } = await open('');
    await page.locator('.VPNavBar .version select').selectOption('/0.0/');
    await page.getByText('The old one').waitFor();
    await page.goto(origin);
    await page.waitForURL(base);
    await page.close();
  });

  test('is there as text, with every page of the index', () => {
    const folder = new URL(base).pathname;
    const index = readFileSync(join(dir, folder, 'llms.txt'), 'utf8');
    const links = [...index.matchAll(/\]\(([^)#:]+\.(?:md|json))/g)].map(([, link = '']) => link);
    assert.ok(links.length > 50);
    for (const link of links) assert.ok(readFileSync(join(dir, folder, link), 'utf8').length > 0, link);
  });
});
