import { setTimeout as sleep } from 'node:timers/promises';
import { JetStreamApiCodes, JetStreamApiError, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { Logger } from '../../log.ts';
import { assertServers } from './assert-servers.ts';
import type { Connection } from '../nats/connect-nats.ts';
import { isDenied, undefinedIfMissing } from '../nats/engine-errors.ts';
import { ensureLayout } from './ensure-layout.ts';
import { RESTORE_MARK, type StreamSettings, TICKETS_STREAM } from '../layout/layout.ts';
import { type NatsRole, streamsNeeded } from '../layout/permissions.ts';
import { whenSettled } from '../nats/when-settled.ts';

export type LayoutNeeds = { roles: readonly NatsRole[]; settings: StreamSettings; log: Logger };

const LOOK_MS = 500;

/**
 * Control makes missing streams and updates the others to the settings. The other roles check for the streams that they need. If one
 * is missing, they make it where their NATS user may, as in development, and else wait for control.
 */
export async function prepareLayout(connection: Connection, { roles, settings, log }: LayoutNeeds): Promise<void> {
  await whenRestored(connection, log);
  if (roles.includes('control')) {
    await ensureLayout(connection, settings);
    return;
  }
  const manager = await whenSettled(() => jetstreamManager(connection.nc, { timeout: 2_000 }));
  const needed = [...new Set(roles.flatMap((role) => streamsNeeded(role, settings)))];
  for (let isWaiting = false; ; isWaiting = true) {
    const missing = await whenSettled(() => missingOf(manager, needed));
    if (missing.length === 0) break;
    if (!isWaiting && (await isMade(connection, settings))) return;
    if (!isWaiting) log.warn({ missing }, 'layout.waiting');
    await sleep(LOOK_MS);
  }
  await assertServers(connection.nc, { replicas: settings.replicas, isThere: true });
}

/** Streams of a restore that has not finished are half of an installation: no role works on them. */
async function whenRestored(connection: Connection, log: Logger): Promise<void> {
  const manager = await whenSettled(() => jetstreamManager(connection.nc, { timeout: 2_000 }));
  const missing = undefinedIfMissing(JetStreamApiCodes.StreamNotFound);
  for (let isWaiting = false; ; isWaiting = true) {
    const found = await whenSettled(() => manager.streams.info(TICKETS_STREAM).catch(missing));
    // A repeated restore deletes the marked stream and makes it again: while this process waits, no stream is no end of it.
    const isDone = found === undefined ? !isWaiting : found.config.metadata?.[RESTORE_MARK] === undefined;
    if (isDone) return;
    const todo = 'A restore is under way or broke off: run millrace restore again with --force to its end.';
    if (!isWaiting) log.warn({ todo }, 'restore.waiting');
    await sleep(LOOK_MS);
  }
}

async function missingOf(manager: JetStreamManager, streams: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  for (const stream of streams) {
    try {
      await manager.streams.info(stream);
    } catch (error) {
      if (!(error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound)) throw error;
      missing.push(stream);
    }
  }
  return missing;
}

/** False when the NATS user may not make streams. */
async function isMade(connection: Connection, settings: StreamSettings): Promise<boolean> {
  try {
    await ensureLayout(connection, settings);
    return true;
  } catch (error) {
    if (isDenied(error)) return false;
    throw error;
  }
}
