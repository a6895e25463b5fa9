/** Roles in words, and which of them a person may give. */
import { isAtMost, ROLE_NAMES, type RoleName } from '@millrace/contract/permissions';

export const ROLE_WORDS: Record<RoleName, string> = {
  owner: 'everything, also rename the workspace and make owners',
  admin: 'everything else, also members, tokens, the audit log and deletion requests',
  developer: 'read, change sources, destinations and audiences, replay events and dead letters',
  viewer: 'read sources, destinations, audiences, profiles, deliveries and usage',
  'viewer-without-payloads': 'read configuration, counts and outcomes, and no contents of events and no ids of people',
};

const ROLE_LABELS: Record<RoleName, string> = {
  owner: 'owner',
  admin: 'admin',
  developer: 'developer',
  viewer: 'viewer',
  'viewer-without-payloads': 'viewer without payloads',
};

/** A member gives at most their own role. */
export function grantable(own: RoleName): RoleName[] {
  return ROLE_NAMES.filter((role) => isAtMost(role, own));
}

/** "1 owner, 2 developers". */
export function countRoles(roles: readonly RoleName[]): string {
  return ROLE_NAMES.map((role) => [role, roles.filter((one) => one === role).length] as const)
    .filter(([, count]) => count > 0)
    .map(([role, count]) => `${count} ${count === 1 ? ROLE_LABELS[role] : ROLE_LABELS[role].replace(/^\w+/, '$&s')}`)
    .join(', ');
}
