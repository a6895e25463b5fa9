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
  /** The page waits for answers to these requests. */
  unanswered: Set<string>;
};

type Watched = Pick<Visit, 'complaints' | 'foreign' | 'answers' | 'unanswered'>;

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
  const end = async () => {
    lastSeen = await describe(page, watched).catch(String);
    await context.close();
  };
  return { page, ...watched, [Symbol.asyncDispose]: end };
}

let lastSeen = '';

/** The last visitor saw this at the end: it tells why a test failed. */
export function whatWasSeen(): string {
  return lastSeen;
}

async function describe(page: Page, { complaints, unanswered }: Watched): Promise<string> {
  const text = await page.locator('body').innerText({ timeout: 1_000 });
  const waitsFor = [...unanswered].join(', ');
  return `${page.url()}\nwaits for: ${waitsFor}\ncomplaints: ${complaints.join('\n')}\n${text.slice(0, 2_000)}`;
}

function watch(page: Page, url: string): Watched {
  const complaints: string[] = [];
  const foreign: string[] = [];
  const answers: Visit['answers'] = [];
  const unanswered = new Set<string>();
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (line) => {
    const isBad = line.type() === 'error' || line.type() === 'warning';
    if (isBad && !EXPECTED.test(line.text())) complaints.push(line.text());
  });
  page.on('requestfinished', (request) => unanswered.delete(request.url()));
  page.on('requestfailed', (request) => unanswered.delete(request.url()));
  page.on('request', (request) => {
    unanswered.add(request.url());
    const { origin, protocol } = new URL(request.url());
    if (origin !== new URL(url).origin && protocol !== 'blob:') foreign.push(request.url());
  });
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (!pathname.startsWith('/api/')) return;
    answers.push({ path: pathname, status: response.status(), body: () => response.text().catch(() => '') });
  });
  return { complaints, foreign, answers, unanswered };
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

type Router = { navigate(to: { href: string }): Promise<void> };

/** Goes to a screen as a click on a link does. To load the console anew for each screen takes twice the processor time. */
export async function goInside(page: Page, path: string): Promise<void> {
  if (page.url() === 'about:blank') await page.goto(path);
  else await page.evaluate(navigate, path);
  await settled(page);
}

/** Runs in the page: the router leaves itself there under this name. */
function navigate(href: string): Promise<void> {
  const router = (self as unknown as Record<string, Router>)['__TSR_ROUTER__'];
  if (router === undefined) throw new Error(`the page at ${location.href} has no router`);
  return router.navigate({ href });
}
