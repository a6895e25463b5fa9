import type { Findings } from './run-fault.ts';

/** Each may leave out what it has none of. Of two figures with the same name the last one counts. */
export function joinFindings(...findings: readonly Partial<Findings>[]): Findings {
  return {
    failures: findings.flatMap(({ failures = [] }) => failures),
    late: findings.flatMap(({ late = [] }) => late),
    figures: Object.assign({}, ...findings.map(({ figures }) => figures)),
  };
}
