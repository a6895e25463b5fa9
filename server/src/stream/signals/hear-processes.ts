import { ALIVE_SUBJECT } from '../layout/layout.ts';
import { NATS_ROLES, type NatsRole } from '../layout/permissions.ts';
import type { Connection } from '../nats/connect-nats.ts';
import { hearTexts } from './hear-texts.ts';
import { ALIVE_EVERY_MS } from './tell-alive.ts';

export type HeardProcess = { id: string; roles: string[]; version: string; startedAt: string };
/** Undefined while the NATS user may not listen. */
export type HeardProcesses = Disposable & { list(): HeardProcess[] | undefined };

/** Three heartbeats, each half a second late, and some delay. */
const GONE_AFTER_MS = ALIVE_EVERY_MS * 3 + 2_000;
const ROLES: readonly string[] = NATS_ROLES;
const LINE = /^(\w{1,40}) ([a-z,]{1,60}) ([\w.+-]{1,60}) (\d{1,15})$/;

/** Listens to the heartbeats of the processes of all roles. */
export function hearProcesses(connection: Connection): HeardProcesses {
  const { list, ...hearing } = hearTexts(connection, { subject: ALIVE_SUBJECT, goneAfterMs: GONE_AFTER_MS });
  return { ...hearing, list: () => list()?.flatMap((text) => readProcess(text) ?? []) };
}

/**
 * Whether this process is the first of its role, for work that need not be done by each. True in one at a time, as a rule; and in
 * each that NATS does not let tell or hear who is alive, because then none of them knows of the others.
 */
export function isFirstOf(role: NatsRole, self: string, heard: readonly HeardProcess[] | undefined): boolean {
  const ids = (heard ?? []).filter(({ roles }) => roles.includes(role)).map(({ id }) => id);
  return !ids.includes(self) || ids.every((id) => id >= self);
}

/** The same among the processes of its version: for work that an earlier version does not do, and would only keep the others from. */
export function isFirstOfVersion(role: NatsRole, self: string, heard: readonly HeardProcess[] | undefined): boolean {
  const own = heard?.find(({ id }) => id === self)?.version;
  return isFirstOf(
    role,
    self,
    heard?.filter(({ version }) => version === own),
  );
}

/** A line of another form is of a version that this one does not know, or forged. */
export function readProcess(text: string): HeardProcess | undefined {
  const [, id, roles = '', version, startedAt] = LINE.exec(text) ?? [];
  const names = roles.split(',');
  if (id === undefined || version === undefined || !names.every((name) => ROLES.includes(name))) return undefined;
  return { id, roles: names, version, startedAt: new Date(Number(startedAt)).toISOString() };
}
