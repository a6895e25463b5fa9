/** Measurements that run in the page, so each function uses nothing from outside of itself. */

declare global {
  interface Window {
    /** How long after the answer the charts were last drawn; undefined before both. */
    millraceDrawMs?: (path: string) => number | undefined;
    /** When the menu was there and answered; undefined before. */
    millraceAnswersMs?: number;
  }
}

/** Times between frames, in milliseconds. */
export function watchFrames(forMs: number): Promise<{ frames: number; p95: number; longest: number }> {
  return new Promise((resolve) => {
    const times: number[] = [];
    const startedAt = performance.now();
    let last = startedAt;
    const next = () => {
      const now = performance.now();
      times.push(now - last);
      last = now;
      if (now - startedAt < forMs) return void requestAnimationFrame(next);
      const sorted = times.toSorted((a, b) => a - b);
      const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
      resolve({ frames: times.length, p95: at(0.95), longest: at(1) });
    };
    requestAnimationFrame(next);
  });
}

/** Remembers when the console's menu was there, painted, and the page was free to answer a click on it. */
export function watchMenu(): void {
  const look = () => {
    if (document.querySelector('#root nav a') === null) return void requestAnimationFrame(look);
    // After the next frame the menu is painted, and what a click would wait for is done.
    requestAnimationFrame(() => setTimeout(() => (window.millraceAnswersMs = performance.now())));
  };
  requestAnimationFrame(look);
}

/** Remembers when something was painted on a canvas. */
export function watchDrawing(): void {
  const strokes: number[] = [];
  const { stroke } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.stroke = function (this: CanvasRenderingContext2D, path?: Path2D) {
    Reflect.apply(stroke, this, path === undefined ? [] : [path]);
    strokes.push(performance.now());
  };
  window.millraceDrawMs = (path) => {
    const answers = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
    const answer = answers.find(({ name, responseEnd }) => new URL(name).pathname === path && responseEnd > 0);
    if (answer === undefined) return undefined;
    const painted = strokes.find((at) => at >= answer.responseEnd);
    return painted === undefined ? undefined : painted - answer.responseEnd;
  };
}

/** Scrolls down until so many rows were seen, and notes each place where the window shows none. */
export async function scrollDown(wanted: number): Promise<{ rows: number; gaps: string[]; pageMs: number[] }> {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const gaps: string[] = [];
  const drawn = () => [...document.querySelectorAll<HTMLElement>('main tbody tr:not([aria-hidden])')];
  const places = () => drawn().map((row) => Number(row.getAttribute('aria-rowindex')));
  let last = 0;
  for (let step = 0; last < wanted && step < wanted; step += 1) {
    window.scrollBy(0, innerHeight / 2);
    for (let frames = 0; frames < 3; frames += 1) await frame();
    const rows = drawn().map((row) => row.getBoundingClientRect());
    const inWindow = rows.filter(({ bottom, top }) => bottom > 120 && top < innerHeight);
    if (inWindow.length === 0) gaps.push(`nothing at ${Math.round(scrollY)} px`);
    const numbers = places();
    if (numbers.some((number, at) => at > 0 && number !== (numbers[at - 1] ?? 0) + 1))
      gaps.push(`rows missing near ${numbers[0]}`);
    last = Math.max(last, ...numbers);
  }
  const answers = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
  const pages = answers.filter(
    ({ name }) => new URL(name).pathname === '/api/v1/deliveries' && name.includes('cursor='),
  );
  return { rows: last, gaps: gaps.slice(0, 10), pageMs: pages.map(({ duration }) => duration) };
}
