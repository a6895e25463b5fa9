import type { Logger } from '../../log.ts';
import type { Metrics } from '../../metrics/open-metrics.ts';
import type { Quarantine } from './quarantine.ts';

/** Counts and logs each thing that goes into quarantine: an operator has to look at it. */
export function countQuarantined(
  quarantine: Quarantine,
  { metrics, log }: { metrics: Metrics; log: Logger },
): Quarantine {
  const refused = metrics.counter('millrace_quarantine_refused_total');
  const left = metrics.counters('millrace_left_for_newer_total');
  // Once: it is met again and again until a newer process takes it.
  const told = new Set<string>();
  return {
    async append(thing) {
      const answer = await quarantine.append(thing);
      const facts = { kind: thing.kind, ...thing.from, why: thing.why };
      if (answer === 'stored') {
        log.error(facts, 'quarantine.appended');
      } else {
        refused.add();
        log.error({ ...facts, answer }, 'quarantine.refused');
      }
      return answer;
    },
    left(kind, why) {
      left(kind).add();
      if (told.has(kind)) return;
      told.add(kind);
      log.warn({ kind, why }, 'newer_format.left');
    },
  };
}
