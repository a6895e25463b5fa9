import type { ControlClient } from '../control-client.ts';
import type { Plan, PlannedDestination, PlannedSource } from './plan-workspaces.ts';

/** A plan that control knows: the write keys are its own, and so are the ids by which the record speaks. */
export type EnteredPlan = {
  plan: Plan;
  /** The names of the plan by the ids that control gave. */
  sources: ReadonlyMap<string, string>;
  destinations: ReadonlyMap<string, string>;
};

/** Enters a plan over HTTP, as people would. Receivers go on calling destinations by the names of the plan. */
export async function enterPlan(control: ControlClient, { sources, destinations }: Plan, port: number) {
  const idOf = new Map<string, string>();
  const keyed: PlannedSource[] = [];
  for (const planned of sources) {
    const { source } = await control.createSource(planned.id);
    idOf.set(planned.id, source.id);
    keyed.push({ ...planned, writeKey: source.writeKey });
  }
  for (const planned of destinations) {
    idOf.set(planned.id, await createDestination(control, { ...planned, sourceId: idOf.get(planned.sourceId) }, port));
  }
  const [first, ...others] = keyed;
  if (first === undefined) throw new Error('a plan needs a source');
  const namesOf = (all: readonly { id: string }[]) => new Map(all.map(({ id }) => [idOf.get(id) ?? '', id]));
  return {
    plan: { sources: [first, ...others], destinations },
    sources: namesOf(sources),
    destinations: namesOf(destinations),
  } satisfies EnteredPlan;
}

type NewDestination = Omit<PlannedDestination, 'sourceId'> & { sourceId: string | undefined };

async function createDestination(control: ControlClient, planned: NewDestination, port: number): Promise<string> {
  const { id, sourceId, secret, host, limits } = planned;
  const settings = { targets: [{ url: `http://${host}:${port}/${id}` }], sharedSecret: secret, ...limits };
  const asked = { sourceId, catalog: 'Webhooks', name: id, enabled: true, settings };
  const { status, body } = await control.ask('POST', '/api/v1/destinations', asked);
  if (body.id === undefined) throw new Error(`a new destination was answered ${status} ${body.code ?? ''}`);
  return body.id;
}
