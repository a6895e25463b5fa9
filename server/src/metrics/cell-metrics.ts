/** The metrics that have a value for each cell. */
import type { Declared } from './declared-type.ts';

export const CELL_METRICS = {
  millrace_cell_available: { kind: 'gauge', label: 'cell', help: 'Whether collect could store in a cell now' },
  millrace_cell_failovers_total: {
    kind: 'counter',
    label: 'cell',
    help: 'Requests that went to the spare because this cell did not take them',
  },
} as const satisfies Record<string, Declared>;

export const PROJECTION_METRICS = {
  millrace_projection_set_aside: {
    kind: 'gauge',
    label: 'cell',
    help: 'Sources, destinations and erased users whose configuration the engine does not take',
  },
  millrace_removals_waiting: {
    kind: 'gauge',
    label: 'cell',
    help: 'Entries of the config bucket without a row in PostgreSQL that wait for the operator to confirm their removal',
  },
  millrace_projection_lag_seconds: {
    kind: 'gauge',
    label: 'cell',
    help: 'Age of the oldest change of configuration that collect and deliver have not been told',
  },
} as const satisfies Record<string, Declared>;
