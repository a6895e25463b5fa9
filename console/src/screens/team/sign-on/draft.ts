/** A connection as its form has it. Pure. */
import type { Connection } from '@millrace/contract/control';
import type { RoleName } from '@millrace/contract/permissions';

export type GroupRow = { group: string; role: RoleName };
export type Draft = {
  issuer: string;
  clientId: string;
  clientSecret: string;
  groupsClaim: string;
  groupRoles: GroupRow[];
  defaultRole: RoleName | '';
  /** One in a line. */
  domains: string;
};

export function draftOf(connection: Connection | null): Draft {
  return {
    issuer: connection?.issuer ?? '',
    clientId: connection?.clientId ?? '',
    clientSecret: '',
    groupsClaim: connection?.groupsClaim ?? 'groups',
    groupRoles: connection?.groupRoles ?? [],
    // A provider may serve the whole world: an owner chooses to let its people in.
    defaultRole: connection?.defaultRole ?? '',
    domains: connection?.domains.map(({ domain }) => domain).join('\n') ?? '',
  };
}

/** The server wants the secret anew with another issuer or client, and says so. */
export function toBody(draft: Draft, connection: Connection | null): object {
  const { issuer, clientId, clientSecret, groupsClaim, defaultRole } = draft;
  return {
    ...(issuer === connection?.issuer ? {} : { issuer: issuer.trim() }),
    ...(clientId === connection?.clientId ? {} : { clientId: clientId.trim() }),
    ...(clientSecret === '' ? {} : { clientSecret }),
    groupsClaim: groupsClaim.trim(),
    groupRoles: draft.groupRoles.filter(({ group }) => group.trim() !== ''),
    defaultRole: defaultRole === '' ? null : defaultRole,
    domains: [
      ...new Set(
        draft.domains
          .toLowerCase()
          .split(/[\s,]+/)
          .filter((domain) => domain !== ''),
      ),
    ],
  };
}
