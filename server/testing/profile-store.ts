/** Profiles in a real PostgreSQL, with two workspaces and an audience and a trait in each. */
import { type PostgresServer } from '@millrace/engines';
import { startMigratedPostgres } from './migrated-postgres.ts';
import { type IdKind, type ProfileKey, profileKey } from '../src/compute/profiles/profile-key.ts';
import type {
  FoldTx,
  HeldPosition,
  LoadedProfiles,
  ProfileChanges,
  ProfileStore,
  StoredProfile,
  Transition,
} from '../src/compute/profiles/profile-store.ts';
import {
  changeDefinitions,
  insertDefinition,
  insertVersion,
  moveVersion,
} from '../src/store/definitions/definitions.ts';
import { openProfileStore } from '../src/store/compute/open-profile-store.ts';
import { openStore, type Store, type Tx } from '../src/store/open-store.ts';
import { insertWorkspace } from '../src/store/workspaces.ts';

export const WORKSPACE = 'ws_1';
export const OTHER_WORKSPACE = 'ws_2';

export type ProfileBed = AsyncDisposable & {
  server: PostgresServer;
  store: Store;
  profiles: ProfileStore;
  /** Numbers of definitions. */
  audience: number;
  trait: number;
  otherAudience: number;
};

export async function openProfileBed({ isNewer = false } = {}): Promise<ProfileBed> {
  await using opening = new AsyncDisposableStack();
  const server = opening.use(await startMigratedPostgres({ isNewer }));
  const store = opening.use(await openStore(server.serviceUrl));
  await store.asSystem(async (tx) => {
    for (const id of [WORKSPACE, OTHER_WORKSPACE]) await insertWorkspace(tx, { id, name: id });
  });
  const [audience, trait] = await addDefinitions(store, WORKSPACE);
  const [otherAudience] = await addDefinitions(store, OTHER_WORKSPACE);
  const opened = opening.move();
  const profiles = openProfileStore(store);
  const dispose = () => opened.disposeAsync();
  return { server, store, profiles, audience, trait, otherAudience, [Symbol.asyncDispose]: dispose };
}

function addDefinitions(store: Store, workspaceId: string): Promise<[number, number]> {
  return store.inWorkspace(workspaceId, async (tx) => {
    const change = await changeDefinitions(tx);
    const add = (kind: 'audience' | 'trait') => addDefinition(tx, change, { workspaceId, kind });
    return [await add('audience'), await add('trait')];
  });
}

type Added = { workspaceId: string; kind: 'audience' | 'trait' };

async function addDefinition(tx: Tx, change: number, { workspaceId, kind }: Added): Promise<number> {
  const named = { workspace_id: workspaceId, id: `${kind}_${workspaceId}`, key: `an_${kind}`, name: `An ${kind}` };
  const row = await insertDefinition(tx, change, { ...named, kind, destinations: ['dst_1'] });
  if (row === undefined) throw new Error('the key is taken');
  const measures = [{ id: 'm', keepMs: 0, slot: 3 }];
  const version = await insertVersion(tx, change, { workspaceId, definition: row.number, body: { kind }, measures });
  await moveVersion(tx, change, { definition: row.number, version }, 'live');
  return row.number;
}

export function keyOf(id: string, kind: IdKind = 'user', workspaceId = WORKSPACE): ProfileKey {
  return profileKey(workspaceId, kind, id);
}

export function newProfile(id: string, fields: Partial<StoredProfile> = {}): StoredProfile {
  const { kind = 'user', workspaceId = WORKSPACE } = fields;
  const key = keyOf(id, kind, workspaceId);
  return { key, workspaceId, kind, id, state: Buffer.from(`state of ${id}`), dueAt: undefined, ...fields };
}

/** A user enters an audience, unless the fields say otherwise. */
export function newTransition(definition: number, id: string, fields: Partial<Transition> = {}): Transition {
  const entered = { kind: 'audience', at: 1_000, value: true, previous: false, sequence: 1 } as const;
  return { definition, key: keyOf(id), ...entered, cause: 'event', sendAt: 1_000, ...fields };
}

export const NO_CHANGES: ProfileChanges = { profiles: [], links: [], transitions: [] };

/** Loads these keys, whatever they are linked to, and writes. */
export async function change(
  profiles: ProfileStore,
  held: HeldPosition,
  changes: Partial<ProfileChanges>,
): Promise<LoadedProfiles> {
  const keys = [
    ...(changes.profiles ?? []).map(({ key }) => key),
    ...(changes.links ?? []).flatMap(({ from, to }) => (to === 'shared' ? [from] : [from, to])),
    ...(changes.transitions ?? []).map(({ key }) => key),
  ];
  return profiles.fold(held, async (tx) => {
    const loaded = await tx.load(keys, () => keys);
    await tx.write({ ...NO_CHANGES, ...changes });
    return loaded;
  });
}

/** The profiles of these ids, loaded as a reader does. */
export async function read(
  profiles: ProfileStore,
  held: HeldPosition,
  ids: readonly string[],
): Promise<StoredProfile[]> {
  const keys = ids.map((id) => keyOf(id));
  const loaded = await profiles.fold(held, (tx: FoldTx) => tx.load(keys, () => keys));
  return [...loaded.profiles.values()];
}
