import { setTimeout as sleep } from 'node:timers/promises';
import { JetStreamApiCodes, JetStreamApiError, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { errors } from '@nats-io/nats-core';
import type { Logger } from '../../log.ts';
import { assertServers } from './assert-servers.ts';
import type { Connection } from '../nats/connect-nats.ts';
import { ensureLayout } from './ensure-layout.ts';
import type { StreamSettings } from '../layout/layout.ts';
import { type NatsRole, streamsNeeded } from '../layout/permissions.ts';
import { whenSettled } from '../nats/when-settled.ts';

export type LayoutNeeds = { roles: readonly NatsRole[]; settings: StreamSettings; log: Logger };

const LOOK_MS = 500;

/**
 * Control makes missing streams and updates the others to the settings. The other roles check for the streams that they need. If one
 * is missing, they make it where their NATS user may, as in development, and else wait for control.
 */
export async function prepareLayout(connection: Connection, { roles, settings, log }: LayoutNeeds): Promise<void> {
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

function isDenied(error: unknown): boolean {
  if (error instanceof errors.PermissionViolationError) return true;
  return error instanceof Error && error.cause !== undefined && isDenied(error.cause);
}
