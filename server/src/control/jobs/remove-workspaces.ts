/**
 * Removes workspaces whose grace time is over. Steps, each with its own commit, and each safe to repeat after a crash in its middle:
 * `waiting` → closes the workspace (members, tokens) and notes the names of its sources and destinations → `engine` → purges NATS →
 * `rows` → tells the projector and deletes the rows of all tables, a portion at a time → `again` → when the projector has taken the
 * entries out of the config bucket, purges and deletes once more what processes wrote meanwhile → `last` → deletes audit log and
 * workspace in one transaction, with an entry in the log of the installation.
 */
import { appendAudit, INSTALLATION } from '../../store/audit-log.ts';
import { forgetDefinitions } from '../../store/definitions/life-endings.ts';
import type { Store } from '../../store/open-store.ts';
import {
  claimEnded,
  closeWorkspace,
  deleteWorkspace,
  isProjectionWaiting,
  releaseEnded,
  setEndStep,
  type WorkspaceEnd,
} from '../../store/workspace-ends.ts';
import { deleteRows, tablesOfWorkspaces, tellBucketOfEnd } from '../../store/workspace-rows.ts';
import type { ControlSide } from '../../stream/open-control-side.ts';
import type { Logger } from '../../log.ts';
import { pause } from '../../pause.ts';

export type RemovalNeeds = {
  store: Store;
  side: Pick<ControlSide, 'forget'>;
  /** Wakes the projector. */
  changed(): void;
  now(): Date;
  log: Logger;
};

const LOOK_MS = 30_000;
/** Between two looks at a workspace that waits for the projector. */
const AGAIN_MS = 1_000;
const LEASE_MS = 300_000;
const ROWS_AT_ONCE = 10_000;

export function startRemovals(needs: RemovalNeeds): AsyncDisposable {
  const life = new AbortController();
  const run = async () => {
    while (!life.signal.aborted) {
      const done = await removeNext(needs).catch((error: unknown) => {
        needs.log.warn({ error: String(error) }, 'workspace.not_removed');
        return 'none' as const;
      });
      await pause(done === 'none' ? LOOK_MS : done === 'waits' ? AGAIN_MS : 0, life.signal);
    }
  };
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      life.abort();
      await running;
    },
  };
}

/** Makes one step for one workspace whose time is over. `waits`: the projector has to come first. */
export async function removeNext(needs: RemovalNeeds): Promise<'step' | 'waits' | 'none'> {
  const { store, log } = needs;
  const end = await store.asSystem((tx) => claimEnded(tx, LEASE_MS));
  if (end === undefined) return 'none';
  const { workspace_id: workspaceId, step } = end;
  try {
    const isDone = await makeStep(end, needs);
    if (isDone) log.info({ workspaceId, step }, 'workspace.removal_step');
    return isDone ? 'step' : 'waits';
  } finally {
    await store.asSystem((tx) => releaseEnded(tx, workspaceId)).catch(() => undefined);
  }
}

/** False when it has to be made later. */
async function makeStep(end: WorkspaceEnd, needs: RemovalNeeds): Promise<boolean> {
  const { store, side, changed, now } = needs;
  const { workspace_id: workspaceId, step } = end;
  const names = end.names ?? { sourceIds: [], destinationIds: [] };
  const move = (to: WorkspaceEnd['step']) => store.asSystem((tx) => setEndStep(tx, workspaceId, to));
  switch (step) {
    case 'waiting':
      await store.asSystem(async (tx) => {
        if (await closeWorkspace(tx, workspaceId)) await forgetDefinitions(tx, workspaceId);
      });
      return true;
    case 'engine':
      await side.forget(names);
      await move('rows');
      return true;
    case 'rows':
      await store.inWorkspace(workspaceId, (tx) => tellBucketOfEnd(tx, workspaceId));
      await deleteAll(store, workspaceId);
      changed();
      await move('again');
      return true;
    case 'again':
      if (await store.asSystem((tx) => isProjectionWaiting(tx, workspaceId))) return false;
      await side.forget(names);
      await deleteAll(store, workspaceId);
      await move('last');
      return true;
    case 'last':
      await store.asSystem(async (tx) => {
        await deleteWorkspace(tx, workspaceId);
        const about = { at: now(), actor: { kind: 'system' }, objectId: workspaceId, details: {} };
        await appendAudit(tx, INSTALLATION, { ...about, action: 'workspace.removed' });
      });
      return true;
  }
}

async function deleteAll(store: Store, workspaceId: string): Promise<void> {
  const tables = await store.asSystem(tablesOfWorkspaces);
  for (const table of tables) {
    let left = ROWS_AT_ONCE;
    while (left === ROWS_AT_ONCE) {
      left = await store.inWorkspace(workspaceId, (tx) => deleteRows(tx, table, workspaceId, ROWS_AT_ONCE));
    }
  }
}
