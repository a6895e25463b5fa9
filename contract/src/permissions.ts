/** The permissions of each role, in one table. Everything else is not allowed. */
export const ROLE_NAMES = ['owner', 'admin', 'developer', 'viewer', 'viewer-without-payloads'] as const;
export type RoleName = (typeof ROLE_NAMES)[number];

const EVERYBODY: readonly RoleName[] = ROLE_NAMES;
/** These roles see the contents of events and deliveries, and ids of people. */
const READERS: readonly RoleName[] = ['owner', 'admin', 'developer', 'viewer'];
const BUILDERS: readonly RoleName[] = ['owner', 'admin', 'developer'];
const MANAGERS: readonly RoleName[] = ['owner', 'admin'];
const OWNERS: readonly RoleName[] = ['owner'];

export const PERMISSIONS = {
  'workspace:read': EVERYBODY,
  'workspace:write': OWNERS,
  'members:read': EVERYBODY,
  'members:write': MANAGERS,
  'tokens:read': MANAGERS,
  'tokens:write': MANAGERS,
  'audit:read': MANAGERS,
  'audit:write': OWNERS,
  // Opens nothing by itself: endpoints that show payloads ask for it beside their own permission.
  'payloads:read': READERS,
  'single-sign-on:read': MANAGERS,
  'single-sign-on:write': OWNERS,
  'catalog:read': EVERYBODY,
  'sources:read': EVERYBODY,
  'sources:write': BUILDERS,
  'destinations:read': EVERYBODY,
  'destinations:write': BUILDERS,
  'audiences:read': EVERYBODY,
  'audiences:write': BUILDERS,
  // Apart from audiences:read, so that a token can be made that reads sizes and not people.
  'profiles:read': READERS,
  'deliveries:read': EVERYBODY,
  'usage:read': EVERYBODY,
  'dead-letters:read': EVERYBODY,
  'dead-letters:write': BUILDERS,
  'replays:read': EVERYBODY,
  'replays:write': BUILDERS,
  'deletions:read': MANAGERS,
  'deletions:write': MANAGERS,
  // Of every role, because the list of operators decides and no role of a workspace; a token may be narrowed to them.
  'configuration:read': EVERYBODY,
  'configuration:write': EVERYBODY,
  'system:read': EVERYBODY,
  'limits:write': EVERYBODY,
  'quarantine:read': EVERYBODY,
  'quarantine:write': EVERYBODY,
  'operators:read': EVERYBODY,
  'operators:write': EVERYBODY,
} as const satisfies Record<string, readonly RoleName[]>;

export type Permission = keyof typeof PERMISSIONS;
export const PERMISSION_NAMES = Object.keys(PERMISSIONS) as Permission[];

/** Permissions that only operators have. */
export function isOfOperators(permission: Permission): boolean {
  return /^(?:configuration|system|quarantine|operators):/.test(permission);
}

/** A token may be narrowed to some permissions; it never has more than its role. */
export function isAllowed(
  permission: Permission,
  who: { role: RoleName; scopes?: readonly string[] | undefined },
): boolean {
  const roles: readonly RoleName[] = PERMISSIONS[permission];
  return roles.includes(who.role) && (who.scopes === undefined || who.scopes.includes(permission));
}

/** An actor grants at most its own role. */
export function isAtMost(role: RoleName, own: RoleName): boolean {
  return ROLE_NAMES.indexOf(role) >= ROLE_NAMES.indexOf(own);
}
