import type { Findings } from './run-fault.ts';

/** Joins findings, each of which may lack parts. Of two figures with the same name the last one counts. */
export function joinFindings(...findings: readonly Partial<Findings>[]): Findings {
  return {
    failures: findings.flatMap(({ failures = [] }) => failures),
    late: findings.flatMap(({ late = [] }) => late),
    figures: Object.assign({}, ...findings.map(({ figures }) => figures)),
  };
}
