/** A person in front of the console: a real browser that writes down everything that should not happen. */
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { BROWSER_ARGS, findBrowser } from '../browser.ts';
import type { Account } from './console-stage.ts';

export type VisitOptions = {
  url: string;
  /** Signs in first. */
  account?: Account;
  scheme?: 'light' | 'dark';
  width?: number;
};

export type Visit = AsyncDisposable & {
  page: Page;
  /** Errors of scripts, of the CSP and of the browser. A refusal that the console shows in its place is not among them. */
  complaints: string[];
  /** Requests to any origin but our own. */
  foreign: string[];
  /** The path and status of each answer of the API. */
  answers: { path: string; status: number; body: () => Promise<string> }[];
};

const HEIGHT = 900;
/** The browser logs each answer of 400 and more as an error, wanted or not. */
const EXPECTED =
  /Failed to load resource: the server responded with a status of (4\d\d|503)|net::ERR_CONNECTION_REFUSED/;
const PATIENCE_MS = 60_000;

/** A light one is for tests that open many pages and measure nothing. */
export async function launchBrowser({ isLight = false } = {}): Promise<Browser> {
  return chromium.launch({ executablePath: findBrowser({ isLight }), args: BROWSER_ARGS });
}

export async function visit(browser: Browser, options: VisitOptions): Promise<Visit> {
  const { url, account, scheme = 'light', width = 1_440 } = options;
  const context = await browser.newContext({
    viewport: { width, height: HEIGHT },
    colorScheme: scheme,
    // The tests look at colours and places, so the console must not animate them.
    reducedMotion: 'reduce',
    baseURL: url,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(PATIENCE_MS);
  if (account !== undefined) await signIn(context, url, account);
  const page = await context.newPage();
  const watched = watch(page, url);
  await page.addInitScript(tellViolations);
  return { page, ...watched, [Symbol.asyncDispose]: () => context.close() };
}

function watch(page: Page, url: string): Pick<Visit, 'complaints' | 'foreign' | 'answers'> {
  const complaints: string[] = [];
  const foreign: string[] = [];
  const answers: Visit['answers'] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (line) => {
    const isBad = line.type() === 'error' || line.type() === 'warning';
    if (isBad && !EXPECTED.test(line.text())) complaints.push(line.text());
  });
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== new URL(url).origin && protocol !== 'blob:') foreign.push(request.url());
  });
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (!pathname.startsWith('/api/')) return;
    answers.push({ path: pathname, status: response.status(), body: () => response.text().catch(() => '') });
  });
  return { complaints, foreign, answers };
}

/** Runs in the page, before its scripts: not every browser logs what its CSP stops. */
function tellViolations(): void {
  addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
    console.error(`CSP stopped ${effectiveDirective} ${blockedURI}`);
  });
}

/** As the console itself signs in, without its screen. */
async function signIn(context: BrowserContext, url: string, account: Account): Promise<void> {
  const answer = await context.request.post(`${url}/api/v1/session`, {
    data: account,
    headers: { 'Millrace-Csrf': '1', Origin: url },
  });
  if (!answer.ok()) throw new Error(`signing in was answered ${answer.status()}: ${await answer.text()}`);
}

/** Waits until the page has what it shows: no row is loading, and no request is under way. */
export async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('load');
  await page.waitForFunction(
    () =>
      document.querySelector('#root main') !== null && document.querySelector('.loading, [aria-busy="true"]') === null,
  );
}
