import type { Random } from '../seeded-random.ts';
import type { Hop } from './open-network.ts';

export type CutHosts = { servers: readonly [string, ...string[]]; delivers: readonly [string, ...string[]] };

/** The ways to cut. In the names of the one-sided ones, `there` are packets of the first to the second, `back` those of the second. */
export const DIRECTIONS = ['both', 'there', 'back'] as const;
export type Direction = (typeof DIRECTIONS)[number];
export type CutKind =
  | 'server from servers'
  | 'server from all'
  | 'servers from each other'
  | 'server from one server'
  | 'server and roles from servers'
  | 'role from servers'
  | 'role from a server'
  | 'control from database'
  | 'deliver from receivers';
/** `ofCollect`: the victim is the server that collect is connected to. */
export type CutWish = { kind: CutKind; direction: Direction; ofCollect?: boolean };

export type Cut = Pick<CutWish, 'kind' | 'direction'> & {
  /** The names of the hosts on both sides. */
  what: string;
  hops: readonly Hop[];
};

/** Every way once: where one direction alone would be another way, all three. */
export const CUT_WISHES: readonly CutWish[] = [
  ...inEachDirection('server from servers'),
  ...inEachDirection('server from one server'),
  ...inEachDirection('role from servers'),
  ...inEachDirection('role from a server'),
  ...inEachDirection('control from database'),
  ...inEachDirection('deliver from receivers'),
  { kind: 'server from all', direction: 'both' },
  { kind: 'servers from each other', direction: 'both' },
  { kind: 'server and roles from servers', direction: 'both' },
];

export const OTHER_HOSTS = { collect: 'collect', control: 'control', database: 'database', receivers: 'receivers' };

/** As many ways as asked, each before one of them comes again, in the order of the dice. */
export function drawWishes(random: Random, count: number): CutWish[] {
  const wishes: CutWish[] = [];
  while (wishes.length < count) wishes.push(...shuffled(random, CUT_WISHES));
  return wishes.slice(0, count);
}

export type DrawnFrom = CutHosts & {
  /** The server that collect is connected to: at least every second time it is the victim. */
  holder: string;
};

/** One way with its victims. */
export function drawCut({ kind, direction, ofCollect = false }: CutWish, random: Random, hosts: DrawnFrom): Cut {
  const { servers, delivers, holder } = hosts;
  const roles = [OTHER_HOSTS.collect, ...delivers, OTHER_HOSTS.control] as const;
  const drawn = random.next() < 0.5 ? holder : random.pick(servers);
  const role = random.pick(roles);
  const company = roles.filter(() => random.next() < 0.5);
  const victims = { ...hosts, roles, role, company, server: ofCollect ? holder : drawn };
  const [ones, rest] = groupsOf(kind, victims);
  const from = ones === rest ? 'each other' : rest.join(' and ');
  return { kind, direction, what: `${ones.join(' and ')} from ${from}`, hops: hopsBetween(ones, rest, direction) };
}

type Group = readonly string[];
type Victims = CutHosts & { roles: Group; role: string; company: Group; server: string };

/** Those of the first group are cut from those of the second one. */
function groupsOf(kind: CutKind, { servers, delivers, roles, role, company, server }: Victims): [Group, Group] {
  const others = servers.filter((name) => name !== server);
  const { control, database, receivers } = OTHER_HOSTS;
  switch (kind) {
    case 'server from servers':
      return [[server], others];
    case 'server from one server':
      return [[server], others.slice(0, 1)];
    case 'server from all':
      return [[server], [...others, ...roles]];
    case 'servers from each other':
      return [servers, servers];
    case 'server and roles from servers':
      return [[server, ...(company.length === 0 ? [role] : company)], others];
    case 'role from servers':
      return [[role], servers];
    case 'role from a server':
      return [[role], [server]];
    case 'control from database':
      return [[control], [database]];
    case 'deliver from receivers':
      return [delivers, [receivers]];
  }
}

type CutHops = Pick<Cut, 'hops'>;

/** Whether collect reaches a server that is in touch with another one, so that requests can be stored. */
export function isServed(cut: CutHops, { servers }: Pick<CutHosts, 'servers'>): boolean {
  const alone = aloneIn(cut, { servers });
  const meet = meetingIn(cut);
  return servers.some((server) => !alone.includes(server) && meet(OTHER_HOSTS.collect, server));
}

/** Servers that are in touch with no other one: they lead nothing for long. */
export function aloneIn(cut: CutHops, { servers }: Pick<CutHosts, 'servers'>): string[] {
  const meet = meetingIn(cut);
  return servers.filter((server) => !servers.some((other) => other !== server && meet(server, other)));
}

function meetingIn({ hops }: CutHops): (one: string, other: string) => boolean {
  const cut = new Set(hops.map((hop) => hop.join()));
  return (one, other) => !cut.has(`${one},${other}`) && !cut.has(`${other},${one}`);
}

function hopsBetween(ones: Group, rest: Group, direction: Direction): Hop[] {
  const there = ones.flatMap((from) => rest.filter((to) => to !== from).map((to): Hop => [from, to]));
  const back = there.map(([from, to]): Hop => [to, from]);
  return [...(direction === 'back' ? [] : there), ...(direction === 'there' ? [] : back)];
}

function inEachDirection(kind: CutKind): CutWish[] {
  return DIRECTIONS.map((direction) => ({ kind, direction }));
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: random.next() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}
