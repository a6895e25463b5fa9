/** Failures on purpose, so that a developer sees what the own retries are worth: `--fail 503:30% --fail reset:5% --delay 2s`. */
import { Failure } from '../output/failures.ts';

/** `share` is from 0 to 1. */
export type FailureRule = { what: 'timeout' | 'reset' | number; share: number };

/** Reads one `--fail`. */
export function readFailureRule(text: string): FailureRule {
  const [, what = '', percent = '100'] = /^(timeout|reset|[2345]\d\d)(?::(\d+(?:\.\d+)?)%)?$/.exec(text) ?? [];
  const share = Number(percent) / 100;
  if (what === '' || share > 1) {
    throw new Failure(`--fail does not take ${JSON.stringify(text)}.`, {
      exit: 'usage',
      todo: 'Give a status, timeout or reset with its share: --fail 503:30%, --fail timeout:10%, --fail reset:5%.',
    });
  }
  return { what: what === 'timeout' || what === 'reset' ? what : Number(what), share };
}

/** The shares of all rules add up: `503:30%` and `reset:5%` leave 65 % of the requests alone. */
export function checkFailureRules(rules: readonly FailureRule[]): void {
  const sum = rules.reduce((total, { share }) => total + share, 0);
  if (sum > 1.000_001) {
    throw new Failure(`The shares of --fail add up to ${Math.round(sum * 100)}%.`, {
      exit: 'usage',
      todo: 'Give shares that add up to 100% at most.',
    });
  }
}

/** The failure of one request; undefined when it is answered as usual. `dice` is from 0 up to 1. */
export function pickFailure(rules: readonly FailureRule[], dice: number): FailureRule['what'] | undefined {
  let below = 0;
  for (const { what, share } of rules) {
    below += share;
    if (dice < below) return what;
  }
  return undefined;
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A length of time such as `500ms`, `2s` or `15m`, in milliseconds. */
export function readDuration(option: string, text: string): number {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  if (amount === undefined || factor === undefined) {
    throw new Failure(`${option} does not take ${JSON.stringify(text)}.`, {
      exit: 'usage',
      todo: `Give a length of time with its unit: ${option} 500ms, ${option} 2s or ${option} 15m.`,
    });
  }
  return Number(amount) * factor;
}
