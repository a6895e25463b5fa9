/** Creates the shop over the control API. Each step looks first whether it was done, so a second start makes nothing twice. */
import type { Destination, Source, Token, Workspace } from '@millrace/contract/control';
import { addMembers } from './add-members.ts';
import { type Ask, type Session, signIn } from './shop-api.ts';
import {
  BLOCKED_EVENT,
  DEFINITIONS,
  type DestinationName,
  type DestinationPlan,
  DESTINATIONS,
  type MemberName,
  MEMBERS,
  type SourceName,
  SOURCES,
  TOKEN,
  WORKSPACE_NAME,
} from './shop-plan.ts';
import { SHARED_SECRET, type ShopReceivers } from './shop-receivers.ts';

export type Shop = {
  sources: Record<SourceName, { id: string; writeKey: string }>;
  destinations: Record<DestinationName, string>;
};

export type ShopNeeds = {
  controlUrl: string;
  /** With the token of the installation's first start. */
  askAsOwner: Ask;
  receivers: ShopReceivers;
  callsPerSecond: number;
  /** Of every member. */
  password: string;
};

type Page<T> = { items: T[] };
type People = { askAs(name: MemberName): Promise<Ask> } & AsyncDisposable;

export async function setUpShop(needs: ShopNeeds): Promise<Shop> {
  const { askAsOwner } = needs;
  await nameWorkspace(askAsOwner);
  await addMembers(
    needs.controlUrl,
    askAsOwner,
    MEMBERS.map((member) => ({ ...member, password: needs.password })),
  );
  await using people = openPeople(needs);
  const sources = await addSources(needs, people);
  const destinations = await addDestinations(needs, people, sources);
  await addDefinitions(askAsOwner, people, destinations);
  await addToken(askAsOwner, people);
  return { sources, destinations };
}

/** A workspace that a person has renamed keeps its name. */
async function nameWorkspace(ask: Ask): Promise<void> {
  const { name } = await ask<Workspace>('GET', '/workspace');
  if (name === 'Default') await ask('PATCH', '/workspace', { name: WORKSPACE_NAME });
}

/** Members sign in when they are first needed: the audit log then names the person. The owner's token stands in for changed passwords. */
function openPeople({ controlUrl, askAsOwner, password }: ShopNeeds): People {
  const sessions = new Map<MemberName, Session | undefined>();
  return {
    async askAs(name) {
      if (!sessions.has(name)) {
        const email = MEMBERS.find((member) => member.name === name)?.email;
        sessions.set(name, await signIn(controlUrl, '/session', { email, password }));
      }
      return sessions.get(name)?.ask ?? askAsOwner;
    },
    async [Symbol.asyncDispose]() {
      for (const session of sessions.values()) await session?.signOut();
    },
  };
}

async function addSources({ askAsOwner }: ShopNeeds, people: People): Promise<Shop['sources']> {
  const { items } = await askAsOwner<Page<Source>>('GET', '/sources?limit=100');
  const made: Partial<Shop['sources']> = {};
  for (const name of SOURCES) {
    const known = items.find((source) => source.name === name);
    const source = known ?? (await (await people.askAs('Mara Lindt'))<Source>('POST', '/sources', { name }));
    const writeKey = source.writeKeys[0]?.key;
    if (writeKey === undefined) throw new Error(`the demo's source ${name} has no write key: create one for it`);
    made[name] = { id: source.id, writeKey };
    if (known === undefined && name === BLOCKED_EVENT.source) {
      const ask = await people.askAs('Priya Nair');
      await ask('POST', `/sources/${source.id}/events`, { name: BLOCKED_EVENT.name, blocked: true });
    }
  }
  return made as Shop['sources'];
}

async function addDestinations(needs: ShopNeeds, people: People, sources: Shop['sources']) {
  const { items } = await needs.askAsOwner<Page<Destination>>('GET', '/destinations?limit=100');
  const made: Partial<Shop['destinations']> = {};
  for (const plan of DESTINATIONS) {
    const { name, source, filters, pausedBy } = plan;
    const sourceId = sources[source].id;
    const settings = settingsOf(plan, needs);
    const known = items.find((destination) => destination.name === name && destination.sourceId === sourceId);
    if (known !== undefined) {
      made[name] = known.id;
      if (!isSame(known, settings)) await needs.askAsOwner('PATCH', `/destinations/${known.id}`, { settings });
      continue;
    }
    const ask = await people.askAs('Mara Lindt');
    const body = { sourceId, catalog: 'Webhooks', name, enabled: true, filters, settings };
    const { id } = await ask<Destination>('POST', '/destinations', body);
    made[name] = id;
    if (pausedBy !== undefined) await (await people.askAs(pausedBy))('PATCH', `/destinations/${id}`, { paused: true });
  }
  return made as Shop['destinations'];
}

type Settings = {
  targets: { url: string; headers?: Record<string, string> }[];
  sharedSecret: string;
  maxPerSecond?: number;
};

function settingsOf({ receivers, headers, rateShare }: DestinationPlan, needs: ShopNeeds): Settings {
  return {
    targets: receivers.map((name) => ({ url: needs.receivers.urls[name], ...(headers && { headers }) })),
    sharedSecret: SHARED_SECRET,
    ...(rateShare !== undefined && { maxPerSecond: Math.ceil(rateShare * needs.callsPerSecond) }),
  };
}

/** A receiver may have another port than at the last start, and the demo another rate. */
function isSame({ settings }: Destination, wanted: Settings): boolean {
  const before = settings as Settings;
  const urlsOf = ({ targets }: Settings) => targets.map(({ url }) => url).join(' ');
  return urlsOf(before) === urlsOf(wanted) && before.maxPerSecond === wanted.maxPerSecond;
}

/** Before the first call: every order counts. */
async function addDefinitions(ask: Ask, people: People, destinations: Shop['destinations']): Promise<void> {
  const { items } = await ask<Page<{ name: string }>>('GET', '/definitions?limit=100');
  for (const { definition, tells } of DEFINITIONS) {
    if (items.some(({ name }) => name === definition.name)) continue;
    const body = { ...definition, destinations: tells.map((name) => destinations[name]) };
    await (await people.askAs('Priya Nair'))('POST', '/definitions', body);
  }
}

async function addToken(ask: Ask, people: People): Promise<void> {
  const { items } = await ask<Page<Token>>('GET', '/tokens?limit=100');
  if (items.some(({ name }) => name === TOKEN.name)) return;
  await (await people.askAs('Mara Lindt'))('POST', '/tokens', TOKEN);
}
