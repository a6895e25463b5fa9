/** Pure: the claims of a provider become a person with a role, or a reason why not. */
import { isAtMost, ROLE_NAMES, type RoleName } from '../access/permissions.ts';
import type { Claims, Exchanged } from './ask-provider.ts';

export type Person = {
  subject: string;
  email: string;
  name: string;
  /** By the groups, or the default; undefined: the person is not let in. */
  role: RoleName | undefined;
};

export type RefusalKind =
  | 'no_email'
  | 'email_unverified'
  | 'email_foreign'
  | 'no_role'
  | 'address_taken'
  | 'identity_taken';
export type ReadPerson = { ok: true; person: Person } | { ok: false; why: RefusalKind };

export type Rules = {
  groupsClaim: string;
  groupRoles: readonly { group: string; role: string }[];
  defaultRole: string | null;
  /** Without any, addresses of all domains are taken. */
  domains: readonly string[];
};

const MAX_SUBJECT = 255;
const MAX_GROUPS = 1_000;
const EMAIL = /^[^\s@\p{Cc}]{1,64}@([^\s@\p{Cc}]{1,189})$/u;

export function readPerson({ claims, userInfo }: Pick<Exchanged, 'claims' | 'userInfo'>, rules: Rules): ReadPerson {
  // The address and its proof come from the same document.
  const source = claims['email'] === undefined ? (userInfo ?? claims) : claims;
  const email = source['email'];
  const [, domain] = typeof email === 'string' ? (EMAIL.exec(email) ?? []) : [];
  if (typeof email !== 'string' || domain === undefined || claims.sub.length > MAX_SUBJECT) return refused('no_email');
  if (source['email_verified'] !== true) return refused('email_unverified');
  if (rules.domains.length > 0 && !rules.domains.includes(domain.toLowerCase())) return refused('email_foreign');
  const role = roleOf(groupsOf({ claims, userInfo }, rules.groupsClaim), rules);
  return { ok: true, person: { subject: claims.sub, email, name: nameOf(claims, userInfo) ?? email, role } };
}

function refused(why: RefusalKind): ReadPerson {
  return { ok: false, why };
}

function groupsOf({ claims, userInfo }: Pick<Exchanged, 'claims' | 'userInfo'>, claim: string): string[] {
  const value = claims[claim] ?? userInfo?.[claim] ?? [];
  const groups: unknown[] = Array.isArray(value) ? value : [value];
  return groups.slice(0, MAX_GROUPS).filter((group) => typeof group === 'string');
}

/** The highest role of the person's groups, or the default. */
function roleOf(groups: readonly string[], { groupRoles, defaultRole }: Rules): RoleName | undefined {
  const given = [...groupRoles.filter(({ group }) => groups.includes(group)).map(({ role }) => role), defaultRole];
  const roles = ROLE_NAMES.filter((role) => given.includes(role));
  return roles.toSorted((one, other) => (isAtMost(one, other) ? 1 : -1))[0];
}

function nameOf(claims: Claims, userInfo: Claims | undefined): string | undefined {
  const name = claims['name'] ?? userInfo?.['name'];
  if (typeof name !== 'string') return undefined;
  const plain = name
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 200);
  return plain === '' ? undefined : plain;
}

/** For the person who is refused. */
export const REFUSAL_SENTENCES: Readonly<Record<RefusalKind, string>> = {
  no_email: 'The provider did not say your email address: it has to give the claim email.',
  email_unverified:
    'The provider does not say that it has checked your email address: the claim email_verified has to be true.',
  email_foreign: 'Your email address is in none of the domains of this workspace.',
  no_role: 'None of your groups at the provider has a role in this workspace.',
  address_taken:
    'A member of this workspace has your email address. If that is you, sign in with your password and link single sign-on in your profile; otherwise an owner removes that member first.',
  identity_taken: 'You sign in at the provider as another member of this workspace.',
};
