import { randomUUID } from 'node:crypto';
import type { Logger } from '../log.ts';
import type { Metrics } from '../metrics/open-metrics.ts';
import { openProfileStore } from '../store/compute/open-profile-store.ts';
import type { Store } from '../store/open-store.ts';
import type { ComputeSide } from '../stream/open-compute-side.ts';
import { type Bell, openBell } from './bell.ts';
import { openFolding } from './fold-requests.ts';
import { holdPositions, type HoldingNeeds } from './hold-positions.ts';
import { openKnownPlans } from './known-plans.ts';
import { openKnownSources } from './known-sources.ts';
import { openComputeStore } from './open-compute-store.ts';
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
  const bells = { definitions: openBell(), outbox: openBell() };
  const listening = side.onChanged((change) => bells[change].ring());
  const working = opening.then((store) => store && { store, holding: hold(store, needs, bells) });
  return {
    refusal: () => refusal,
    async [Symbol.asyncDispose]() {
      life.abort();
      listening[Symbol.dispose]();
      const work = await working;
      await work?.holding[Symbol.asyncDispose]();
      await work?.store[Symbol.asyncDispose]();
    },
  };
}

function hold(
  store: Store,
  { side, append, metrics, log }: ComputeNeeds,
  bells: Record<'definitions' | 'outbox', Bell>,
) {
  const plans = openKnownPlans();
  const sources = openKnownSources(store, (workspaceId) => plans.planOf(workspaceId) !== undefined);
  const folding = openFolding({ plans, sources, users: openWithheldUsers(store), metrics });
  const changed = () => {
    bells.outbox.ring();
    side.tellChanged('outbox');
  };
  const shared = { store, profiles: openProfileStore(store), side, append, metrics, log };
  const parts = { plans, sources, folding, watermark: openWatermark(), changed };
  const rings = { bell: bells.definitions, outbox: bells.outbox };
  return holdPositions({ ...shared, ...parts, ...rings, holder: randomUUID() });
}
