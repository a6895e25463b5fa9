import assert from 'node:assert/strict';
import { openPage } from './browser.ts';
import type { Exchange, Recorder } from './recorder.ts';
import { sentCalls } from './sent-calls.ts';
import { serveSite, type SiteFile } from './site.ts';

/** The files that the visited site serves; the values of `{{names}}` in its pages can name the endpoint. */
export type Visit = {
  files(path: string, endpoint: string): SiteFile | undefined;
  path: string;
  /** Called on the page, when the page does not send by itself. */
  sendCalls?: (endpoint: string) => object;
  calls: number;
};

/** Visits a page of another origin and stays until all its calls have been answered. */
export async function tellInBrowser(recorder: Recorder, { files, path, sendCalls, calls }: Visit): Promise<void> {
  await using site = await serveSite((asked) => files(asked, recorder.url));
  await using open = await openPage(site.url + path);
  if (sendCalls !== undefined) await open.page.evaluate(`sendCalls(${JSON.stringify(sendCalls(recorder.url))})`);
  await recorder.until((exchanges) => sentCalls(exchanges).length >= calls);
  assert.deepEqual(open.complaints, [], 'nothing went wrong on the page');
  assert.ok(
    recorder.exchanges.every(({ headers }) => headers.origin === site.url),
    'each request was a cross-origin one',
  );
}

/** The browser asked before each kind of request, was allowed, and only then sent. */
export function assertAskedFirst(exchanges: Exchange[], paths: string[]): void {
  const ofMethod = (wanted: string) =>
    exchanges.filter(({ method }) => method === wanted).map(({ path, status }) => `${path} ${status}`);
  assert.deepEqual(ofMethod('OPTIONS').sort(), paths.map((path) => `${path} 204`).sort());
  assert.deepEqual(ofMethod('POST').sort(), paths.map((path) => `${path} 200`).sort());
}
