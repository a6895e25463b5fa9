import { errors, nuid } from '@nats-io/nats-core';
import { ALIVE_SUBJECT } from '../layout/layout.ts';
import type { Connection } from '../nats/connect-nats.ts';
import { every } from '../../pause.ts';

export type AboutProcess = {
  roles: readonly string[];
  version: string;
  startedAt: number;
  /** The same in every cell; by default a new one. */
  id?: string | undefined;
};

export const ALIVE_EVERY_MS = 2_000;
/** NATS users that were made for an older version may not publish it: each denial is a line in the log. */
const DENIED_PAUSE_MS = 600_000;

type TellingAlive = Disposable & { id: string };

/** The heartbeat of a process, for the operator: its id, roles, version and start, in one line. Heard by control, never stored. */
export function tellAlive({ nc }: Connection, about: AboutProcess): TellingAlive {
  const { roles, version, startedAt, id = nuid.next() } = about;
  const text = [id, roles.join(','), version, startedAt].join(' ');
  let silentUntil = 0;
  const beat = () => {
    if (!nc.isClosed() && performance.now() >= silentUntil) nc.publish(ALIVE_SUBJECT, text);
  };
  const heedDenials = async () => {
    for await (const status of nc.status()) {
      const error = status.type === 'error' ? status.error : undefined;
      const isOurs = error instanceof errors.PermissionViolationError && error.subject === ALIVE_SUBJECT;
      if (isOurs) silentUntil = performance.now() + DENIED_PAUSE_MS;
    }
  };
  void heedDenials();
  beat();
  const timer = every(ALIVE_EVERY_MS, beat);
  return { id, [Symbol.dispose]: () => timer[Symbol.dispose]() };
}
