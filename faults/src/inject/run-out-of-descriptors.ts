import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { finishDeliveries } from '../deliver/finish-deliveries.ts';
import { openDeliverScene } from '../deliver/open-deliver-scene.ts';
import { planWorkspaces } from '../deliver/plan-workspaces.ts';
import { joinFindings } from '../join-findings.ts';
import type { FaultRun, Findings } from '../run-fault.ts';
import { loadCrashScene } from './kill-deliver.ts';

const WARM_UP_MS = 2_000;
/** How many more files the process may open. */
const LEFT = 4;
const SOCKETS = 100;
const LOOK_MS = 100;

/**
 * A process that collects and delivers can open no more files: clients cannot connect, and receivers cannot be dialed. It stays alive,
 * loses nothing, and goes on when there are descriptors again.
 */
export async function runOutOfDescriptors(run: FaultRun): Promise<Findings> {
  await using scene = await openDeliverScene(run, {
    nodes: 1,
    plan: planWorkspaces({ name: 'few', workspaces: 5, sourcesEach: 2, destinationsPerSource: 2 }),
    behaviour: { status: 200, failing: 0.05 },
    retryScale: 10,
    roles: ['collect,deliver'],
  });
  const load = loadCrashScene(scene, run);
  await sleep(WARM_UP_MS);
  const pid = scene.collect.pid() ?? 0;
  const open = countFiles(pid);
  limitFiles(pid, open + LEFT);
  const sockets = await openSockets(scene.collect.port);
  const mostOpen = await mostFiles(pid, run.isFull ? 30_000 : 4_000);
  limitFiles(pid, SOCKETS * 100);
  for (const socket of sockets) socket.destroy();
  const found = await finishDeliveries(scene, load, []);
  const died = scene.collect.pid() === pid && isAlive(pid) ? [] : ['the process died'];
  const hadRoom = mostOpen < open + LEFT ? [`the process had ${mostOpen} files open and could have more`] : [];
  return joinFindings(
    { failures: [...died, ...hadRoom], figures: { openFiles: open, mostOpenFiles: mostOpen } },
    found,
  );
}

function countFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** How many it had open at the same time. */
async function mostFiles(pid: number, ms: number): Promise<number> {
  const endsAt = performance.now() + ms;
  let most = 0;
  while (performance.now() < endsAt) {
    await sleep(LOOK_MS);
    most = Math.max(most, countFiles(pid));
  }
  return most;
}

/** Only the soft limit, which can be raised again. */
function limitFiles(pid: number, most: number): void {
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${most}:`]);
}

/** Those that the process takes, and those that it cannot take. */
function openSockets(port: number): Promise<Socket[]> {
  const sockets = Array.from({ length: SOCKETS }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  return Promise.all(
    sockets.map(async (socket) => {
      await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => undefined);
      return socket;
    }),
  );
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
