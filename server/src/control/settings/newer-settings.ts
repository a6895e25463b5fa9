/**
 * Settings of a destination that only processes from some version on understand. A deliver process that does not know them would send
 * something else, and a control process that does not would write the entry anew without its format. So a destination gets such a setting
 * when no older process is alive; one that has it already can be changed at any time.
 */
import { type BodyFormat, isBatchFormat } from '@millrace/contract';
import { FORMATS } from '../../domain/format.ts';
import { compareVersions, VERSION } from '../../version.ts';
import { ApiProblem } from '../problems/problems.ts';

type Settings = Readonly<Record<string, unknown>>;
/** Undefined where NATS does not let control hear them: then there is nothing to decide by, and the order of an upgrade is the operator's. */
export type LiveProcesses = {
  deliverProcesses(): readonly { settingsKnown: number }[] | undefined;
  processes(): readonly { roles: readonly string[]; version: string }[] | undefined;
};

const NEWER: Readonly<Record<string, (settings: Settings) => boolean>> = {
  bodyFormat: ({ bodyFormat }) => bodyFormat !== undefined && isBatchFormat(bodyFormat as BodyFormat),
  order: ({ order }) => order === 'user',
};

/** Throws a problem that names the settings and the number of older processes. */
export function mustBeUnderstood(before: Settings, after: Settings, alive: LiveProcesses): void {
  const asked = Object.entries(NEWER).filter(([, isUsed]) => isUsed(after) && !isUsed(before));
  if (asked.length === 0) return;
  const older = tellOlder(alive);
  if (older === undefined) return;
  const message = `needs this version in all deliver and control processes, and ${older}, wait ten seconds, and try again`;
  throw new ApiProblem(
    'older_processes',
    asked.map(([name]) => ({ path: `/settings/${name}`, message })),
  );
}

/** The older processes in words; undefined when there are none. */
function tellOlder({ deliverProcesses, processes }: LiveProcesses): string | undefined {
  const deliver = (deliverProcesses() ?? []).filter(({ settingsKnown }) => settingsKnown < FORMATS.destination);
  const control = (processes() ?? []).filter(
    ({ roles, version }) => roles.includes('control') && compareVersions(version, VERSION) < 0,
  );
  const count = deliver.length + control.length;
  if (count === 0) return undefined;
  const roles = [`${deliver.length} deliver`, `${control.length} control`].filter((text) => !text.startsWith('0 '));
  return `${roles.join(' and ')} ${count === 1 ? 'process is older: upgrade or stop it' : 'processes are older: upgrade or stop them'}`;
}
