import { type FilterRule, ruleProblems, ruleText } from '@millrace/contract';
import { ApiProblem } from '../problems/problems.ts';

/** The same rules; throws a problem that lists every mistake in them. */
export function checkedFilters(rules: FilterRule[]): FilterRule[] {
  const errors = rules.flatMap((rule, index) =>
    ruleProblems(rule).map(([path, message]) => ({ path: `/filters/${index}${path}`, message })),
  );
  if (errors.length > 0) throw new ApiProblem('invalid_request', errors);
  return rules;
}

/** As sentences without ids: the audit log is append-only. */
export function filtersForLog(rules: readonly FilterRule[] | undefined): { filters?: string[] } {
  return rules === undefined ? {} : { filters: rules.map(ruleText) };
}
