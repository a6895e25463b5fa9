/** The metrics of collect about cells. */
import type { Declared } from './declared-type.ts';

export const CELL_METRICS = {
  millrace_cell_available: { kind: 'gauge', label: 'cell', help: 'Whether collect could store in a cell now' },
  millrace_cell_failovers_total: {
    kind: 'counter',
    label: 'cell',
    help: 'Requests that went to the spare because this cell did not take them',
  },
} as const satisfies Record<string, Declared>;
