import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { hashOfSecret } from '../../../server/src/control/access/secret-text.ts';
import { newId } from '../../../server/src/store/new-id.ts';
import { openStore, type Store } from '../../../server/src/store/open-store.ts';
import { insertToken } from '../../../server/src/store/tokens.ts';
import { insertWorkspace } from '../../../server/src/store/workspaces.ts';
import { type ControlClient, controlClient } from '../control-client.ts';
import { enterPlan } from '../deliver/enter-plan.ts';
import { type DeliverScene, type EnterNeeds, openDeliverScene } from '../deliver/open-deliver-scene.ts';
import { controlSettings, isProjected } from '../deliver/open-recorder-scene.ts';
import { joinPlans, type Plan, planWorkspaces } from '../deliver/plan-workspaces.ts';
import { controlPortIn } from '../open-control-scene.ts';
import type { FaultRun } from '../run-fault.ts';
import { serverProcess } from '../server-process.ts';
import { startDatabase } from '../start-database.ts';
import { waitUntil } from '../wait-until.ts';
import { LIMITS } from './limits.ts';

const PROJECTED_WITHIN_MS = 15_000;

export type Tenants = AsyncDisposable & {
  scene: DeliverScene;
  operator: ControlClient;
  well: ControlClient;
  greedy: ControlClient;
  greedyToken: string;
  plans: { well: Plan; greedy: Plan };
};

/** A whole installation with an operator and two workspaces, each entered over HTTP by its own owner. */
export async function openTenants(run: FaultRun): Promise<Tenants> {
  await using parts = new AsyncDisposableStack();
  const database = parts.use(await startDatabase());
  const token = randomBytes(24).toString('hex');
  const plans = {
    well: planWorkspaces({ name: 'well', workspaces: 1, sourcesEach: 2, destinationsPerSource: 2 }),
    greedy: planWorkspaces({ name: 'greedy', workspaces: 1, sourcesEach: 2, destinationsPerSource: 3 }),
  };
  const made: Partial<Omit<Tenants, 'scene' | 'plans' | typeof Symbol.asyncDispose>> = {};
  const enter = async ({ port, settings }: EnterNeeds) => {
    const asControl = { ...settings, ...controlSettings(database, token) };
    const control = parts.use(await serverProcess(asControl, join(run.dir, 'control.log')));
    const url = `http://127.0.0.1:${controlPortIn(await control.start())}`;
    const store = parts.use(await openStore(database.serviceUrl));
    const [well, greedy] = [await addTenant(store, url), await addTenant(store, url)];
    const operator = controlClient(url, token);
    plans.well = (await enterPlan(well.client, plans.well, port)).plan;
    plans.greedy = (await enterPlan(greedy.client, plans.greedy, port)).plan;
    const limits = await operator.ask('PATCH', `/api/v1/operator/workspaces/${greedy.id}/limits`, { limits: LIMITS });
    if (limits.status !== 200) throw new Error(`the limits were answered ${limits.status} ${limits.body.code ?? ''}`);
    await waitUntil('the plans are projected', PROJECTED_WITHIN_MS, () => isProjected(store));
    Object.assign(made, { operator, well: well.client, greedy: greedy.client, greedyToken: greedy.secret });
    return joinPlans(plans.well, plans.greedy);
  };
  const shape = {
    nodes: 1,
    behaviour: { status: 200 },
    retryScale: 10,
    roles: ['collect,deliver', 'deliver'],
  } as const;
  const isKept = ({ destinationId }: { destinationId: string }) => destinationId.startsWith('dst_well');
  const scene = parts.use(
    await openDeliverScene(run, { ...shape, plan: joinPlans(plans.well, plans.greedy), enter, isKept }),
  );
  const { operator, well, greedy, greedyToken } = made;
  if (operator === undefined || well === undefined || greedy === undefined || greedyToken === undefined)
    throw new Error('nothing was entered');
  const open = parts.move();
  return { scene, operator, well, greedy, greedyToken, plans, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

async function addTenant(store: Store, url: string): Promise<{ id: string; secret: string; client: ControlClient }> {
  const id = newId('ws');
  const secret = randomBytes(24).toString('hex');
  await store.asSystem(async (tx) => {
    await insertWorkspace(tx, { id, name: id });
    const token = {
      workspaceId: id,
      id: newId('tok'),
      name: 'owner',
      role: 'owner',
      hint: '',
      createdBy: 'fault',
    } as const;
    await insertToken(tx, { ...token, scopes: null, expiresAt: null, secretHash: hashOfSecret(secret) });
  });
  return { id, secret, client: controlClient(url, secret) };
}
