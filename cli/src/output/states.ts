/** The colours of the seven states, as in the console. */
import type { StateName } from '@millrace/console/format/state-name';

const STYLES = {
  delivered: 'green',
  retrying: 'yellow',
  givenup: 'red',
  waiting: 'cyan',
  skipped: 'dim',
  paused: 'magenta',
  refused: 'red',
} as const satisfies Record<StateName, string>;

export function stateStyle(state: StateName): (typeof STYLES)[StateName] {
  return STYLES[state];
}
