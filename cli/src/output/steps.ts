/** Progress of long work, on standard error: one line that changes on a terminal, one line a step elsewhere. */
import process from 'node:process';

export type Steps = {
  /** A new step begins. */
  step(text: string): void;
  /** How far the step is; shown at most five times a second, and only on a terminal. */
  update(text: string): void;
  /** The last line stays. */
  end(): void;
};

const EVERY_MS = 200;

export function openSteps({ isSilent = false } = {}): Steps {
  const { stderr } = process;
  const isLive = stderr.isTTY;
  let shownAt = 0;
  let step = '';
  return {
    step(text) {
      if (isSilent) return;
      if (isLive && step !== '') stderr.write('\r\u001B[K');
      step = text;
      stderr.write(isLive ? text : `${text}\n`);
    },
    update(text) {
      if (isSilent || !isLive || performance.now() - shownAt < EVERY_MS) return;
      shownAt = performance.now();
      stderr.write(`\r\u001B[K${step}  ${text}`);
    },
    end() {
      if (isLive && step !== '') stderr.write('\r\u001B[K');
      step = '';
    },
  };
}

export function bytesIn(count: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, count < 1 ? 0 : Math.floor(Math.log10(count) / 3));
  return `${(count / 1_000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}
