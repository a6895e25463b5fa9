import { type FilterRule, ruleProblems, ruleText } from '@millrace/contract';
import { ApiProblem } from '../problems/problems.ts';

/** The rules as they are, or a problem that says everything that is wrong with them. */
export function checkedFilters(rules: FilterRule[]): FilterRule[] {
  const errors = rules.flatMap((rule, index) =>
    ruleProblems(rule).map(([path, message]) => ({ path: `/filters/${index}${path}`, message })),
  );
  if (errors.length > 0) throw new ApiProblem('invalid_request', errors);
  return rules;
}

/** In words, without ids: the log is never changed. */
export function filtersForLog(rules: readonly FilterRule[] | undefined): { filters?: string[] } {
  return rules === undefined ? {} : { filters: rules.map(ruleText) };
}
