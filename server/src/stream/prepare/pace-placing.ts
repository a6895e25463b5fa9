import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { askServers, ourServers } from './assert-servers.ts';

/** NATS servers tell each other this often how much they have promised, and place streams by that. */
const TOLD_EVERY_MS = 10_000;
const TOLD_MS = TOLD_EVERY_MS + 1_000;

/**
 * To be awaited before a stream of that size is made. Streams that are made in a row may all be placed on one server, by what it had free
 * before the first of them, and then it has promised more than it has. On servers of one size the plan is below what each has; a smaller
 * one is given time to tell the others.
 */
export function openPacer(nc: NatsConnection): (bytes: number) => Promise<void> {
  let free: number[] | undefined;
  let placed = 0;
  return async (bytes) => {
    free ??= await readFree(nc);
    // A server that has too little room even for this one is not chosen.
    if (free.some((each) => each >= bytes && each < placed + bytes)) {
      await sleep(TOLD_MS);
      free = await readFree(nc);
      placed = 0;
    }
    placed += Math.max(0, bytes);
  };
}

async function readFree(nc: NatsConnection): Promise<number[]> {
  return ourServers(await askServers(nc), nc).map(
    ({ data }) => (data?.config?.max_storage ?? 0) - (data?.reserved_storage ?? 0),
  );
}
