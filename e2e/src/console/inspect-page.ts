import type { Page } from 'playwright-core';
import { lasting } from './wait-for.ts';

/** Finds what a person would not accept: a page wider than its window, covered controls, raw codes and machine times in sentences. */
export async function inspectPage(page: Page): Promise<string[]> {
  return lasting(() => page.evaluate(lookAround));
}

/** Runs in the page, so it uses nothing from outside of itself. */
function lookAround(): string[] {
  const problems: string[] = [];
  const { clientWidth, scrollWidth } = document.documentElement;
  if (scrollWidth > clientWidth) problems.push(`the page is ${scrollWidth - clientWidth} px wider than its window`);

  const isSeen = (element: Element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const describe = (element: Element) =>
    `<${element.tagName.toLowerCase()} class="${element.className}"> ${(element.textContent ?? '').trim().slice(0, 60)}`;
  const scrolls = (element: Element | null): boolean =>
    element !== null &&
    (/auto|scroll|hidden/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement));

  for (const element of document.querySelectorAll('#root *')) {
    const { right, width } = element.getBoundingClientRect();
    const isOut = width > 0 && right > innerWidth + 1 && isSeen(element) && !scrolls(element.parentElement);
    if (isOut && element.closest('svg') === null) problems.push(`reaches beyond the right edge: ${describe(element)}`);
  }

  for (const control of document.querySelectorAll('#root :is(button, a, input, select, textarea)')) {
    const { left, top, width, height } = control.getBoundingClientRect();
    const [x, y] = [left + Math.min(width / 2, 20), top + height / 2];
    const isInside = width > 0 && height > 0 && x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
    if (!isInside || !isSeen(control)) continue;
    const above = document.elementFromPoint(x, y);
    const isItself = above === null || control.contains(above) || above.contains(control);
    const isLayer = above?.closest('.bar, .toasts, .sticky-actions, label') !== null;
    if (!isItself && !isLayer) problems.push(`covered by ${describe(above)}: ${describe(control)}`);
  }

  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const RAW = /\b[a-z]+(?:_[a-z0-9]+)+\b|\d{4}-\d\d-\d\dT\d\d|\bundefined\b|\bNaN\b|\[object Object\]|\bInvalid Date\b/;
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (parent === null || !isSeen(parent)) continue;
    if (parent.closest('code, pre, kbd, .mono, .id, bdi, textarea, script, style, title, noscript') !== null) continue;
    const [found] = RAW.exec(node.textContent ?? '') ?? [];
    if (found !== undefined) problems.push(`shows "${found}" to people: ${(node.textContent ?? '').slice(0, 100)}`);
  }
  return problems.slice(0, 20);
}
