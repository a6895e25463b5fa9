import { randomUUID } from 'node:crypto';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics/open-metrics.ts';
import { openProfileStore } from '../store/compute/open-profile-store.ts';
import type { Store } from '../store/open-store.ts';
import type { ComputeSide } from '../stream/open-compute-side.ts';
import type { ComputedChange } from '../stream/signals/computed.ts';
import { openBell } from '../pause.ts';
import { startCounting } from './count-definitions.ts';
import { openFolding } from './fold-requests.ts';
import { holdPositions, type HoldingNeeds } from './hold-positions.ts';
import { openKnownPlans } from './known-plans.ts';
import { openKnownSources } from './known-sources.ts';
import { openComputeStore } from './open-compute-store.ts';
import { startNotingSizes } from './note-sizes.ts';
import { openWatermark } from './watermark.ts';
import { openWithheldUsers } from './withheld-users.ts';

export type ComputeSettings = { databaseUrl: string };
export type ComputeNeeds = {
  settings: ComputeSettings;
  side: ComputeSide;
  append: HoldingNeeds['append'];
  metrics: Metrics;
  log: Logger;
};
export type Compute = AsyncDisposable & {
  /** Why this version does not use the database; undefined when it does, or when the database has not answered yet. */
  refusal(): string | undefined;
};

/** Resolves at once: the database may come later, and the roles beside this one do not wait for it. */
export function startCompute(needs: ComputeNeeds): Compute {
  const { settings, side, log } = needs;
  const life = new AbortController();
  let refusal: string | undefined;
  const refused = (why: string | undefined) => (refusal = why);
  const opening = openComputeStore({ ...settings, signal: life.signal, refused, log });
  const bells = openBells();
  const listening = side.onChanged(bells.ring);
  const working = opening.then(
    (store) =>
      store && {
        store,
        sizes: startNotingSizes(store, log),
        counting: startCounting(store, needs.metrics),
        holding: hold(store, needs, bells),
      },
  );
  return {
    refusal: () => refusal,
    async [Symbol.asyncDispose]() {
      life.abort();
      listening[Symbol.dispose]();
      const work = await working;
      await work?.sizes[Symbol.asyncDispose]();
      await work?.counting[Symbol.asyncDispose]();
      await work?.holding[Symbol.asyncDispose]();
      await work?.store[Symbol.asyncDispose]();
    },
  };
}

function hold(store: Store, { side, append, metrics, log }: ComputeNeeds, bells: Bells) {
  const plans = openKnownPlans();
  const sources = openKnownSources(store, (workspaceId) => plans.planOf(workspaceId) !== undefined);
  const users = openWithheldUsers(store);
  const folding = openFolding({ plans, sources, users, metrics });
  const tell = (change: ComputedChange) => () => {
    bells.ring(change);
    side.tellChanged(change);
  };
  const shared = { store, profiles: openProfileStore(store), side, append, metrics, log };
  const parts = { plans, sources, users, folding, watermark: openWatermark() };
  const tellers = { changed: tell('outbox'), changedDefinitions: tell('definitions') };
  return holdPositions({ ...shared, ...parts, ...tellers, ...bells, holder: randomUUID() });
}

type Bells = ReturnType<typeof openBells>;

/** A change of definitions concerns those who hold positions, the lifecycle, and the readers, which count. */
function openBells() {
  const [bell, outbox, lifecycle] = [openBell(), openBell(), openBell()];
  let definitionChanges = 0;
  return {
    bell,
    outbox,
    lifecycle,
    definitionChanges: () => definitionChanges,
    ring(change: ComputedChange): void {
      if (change === 'outbox') return outbox.ring();
      definitionChanges += 1;
      bell.ring();
      lifecycle.ring();
    },
  };
}
