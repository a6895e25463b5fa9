import { spawnSync } from 'node:child_process';
import { chromium, type Page } from 'playwright-core';

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome'];
/** The same engine without a window: it takes half the processor time for a page. */
const LIGHT_PROGRAMS = ['chromium-headless-shell', ...PROGRAMS];
export const BROWSER_ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

/** A page in a real browser; `complaints` is everything that went wrong on it. */
export type OpenPage = AsyncDisposable & { page: Page; complaints: string[] };

export async function openPage(url: string): Promise<OpenPage> {
  const browser = await chromium.launch({ executablePath: findBrowser({ isLight: true }), args: BROWSER_ARGS });
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('requestfailed', (request) => complaints.push(`${request.url()} ${request.failure()?.errorText}`));
  page.on('console', (line) => {
    if (line.type() === 'error' || line.type() === 'warning') complaints.push(line.text());
  });
  await page.goto(url);
  return { page, complaints, [Symbol.asyncDispose]: () => browser.close() };
}

export function findBrowser({ isLight = false } = {}): string {
  for (const program of isLight ? LIGHT_PROGRAMS : PROGRAMS) {
    const { status, stdout } = spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' });
    if (status === 0) return stdout.trim();
  }
  throw new Error('Chromium is missing: run `bash e2e/get-clients` first');
}
