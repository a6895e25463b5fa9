/** The violations of a page that axe-core calls serious or critical. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

declare global {
  interface Window {
    axe?: typeof axe;
  }
}

/** Only the named rules, or all of them. */
export async function seriousIssues(page: Page, rules?: string[]): Promise<string[]> {
  // It stays until the page is loaded anew: to compile it takes longer than its rules do.
  if (await page.evaluate(() => window.axe === undefined)) await page.evaluate(AXE);
  return page.evaluate(runAxe, rules);
}

/** Runs in the page. */
async function runAxe(rules?: string[]): Promise<string[]> {
  if (window.axe === undefined) throw new Error('axe is not in the page');
  // Details of passed rules cost more processor time than the rules.
  const { violations } = await window.axe.run(document, {
    resultTypes: ['violations'],
    ...(rules && { runOnly: { type: 'rule', values: rules } }),
  });
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.slice(0, 3).map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}
