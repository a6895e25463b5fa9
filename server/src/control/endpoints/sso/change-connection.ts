/** The rules that a connection has to follow before control saves it. */
import type { ConnectionChange, NewConnection } from '@millrace/contract/control';
import { listMembers, setBreakGlass } from '../../../store/members.ts';
import type { Tx } from '../../../store/open-store.ts';
import type { ConnectionRow, SavedConnection } from '../../../store/sso-connections.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { ApiProblem } from '../../problems/problems.ts';
import { issuerProblem } from '../../sso/provider-url.ts';
import { placeOfSecret } from './open-connection.ts';

type Sealing = Pick<ControlNeeds, 'keyRing' | 'networks'>;
type Owned = { workspaceId: string; id: string };

export function newConnection(body: NewConnection, owned: Owned, { keyRing, networks }: Sealing): SavedConnection {
  mustBeIssuer(body.issuer, networks);
  return {
    ...owned,
    issuer: body.issuer,
    clientId: body.clientId,
    clientSecretSealed: keyRing.seal(body.clientSecret, placeOfSecret(owned)),
    groupsClaim: body.groupsClaim ?? 'groups',
    groupRoles: body.groupRoles ?? [],
    defaultRole: body.defaultRole ?? null,
    required: false,
  };
}

export function changedConnection(body: ConnectionChange, row: ConnectionRow, needs: Sealing): SavedConnection {
  const { workspace_id: workspaceId, id } = row;
  const { keyRing, networks } = needs;
  const [issuer, clientId] = [body.issuer ?? row.issuer, body.clientId ?? row.client_id];
  if (body.issuer !== undefined) mustBeIssuer(issuer, networks);
  // Another provider would get to know the secret.
  if (isOtherClient({ issuer, clientId }, row) && body.clientSecret === undefined) {
    throw invalid('/clientSecret', 'must be sent with another issuer or client id');
  }
  const secret = body.clientSecret;
  return {
    workspaceId,
    id,
    issuer,
    clientId,
    clientSecretSealed:
      secret === undefined ? row.client_secret_sealed : keyRing.seal(secret, placeOfSecret({ workspaceId, id })),
    groupsClaim: body.groupsClaim ?? row.groups_claim,
    groupRoles: body.groupRoles ?? row.group_roles,
    defaultRole: body.defaultRole === undefined ? row.default_role : body.defaultRole,
    required: body.required ?? row.required,
  };
}

export function isOtherClient(
  { issuer, clientId }: Pick<SavedConnection, 'issuer' | 'clientId'>,
  row: ConnectionRow,
): boolean {
  return issuer !== row.issuer || clientId !== row.client_id;
}

/** The provider cannot lock everybody out: where it is required, an owner reaches the workspace without it. */
export async function keepBreakGlass(
  tx: Tx,
  { workspaceId, required }: SavedConnection,
  chosen: readonly string[] | undefined,
): Promise<void> {
  const owners = (await listMembers(tx, workspaceId)).filter(({ role }) => role === 'owner');
  const able = new Set(owners.filter(({ has_password }) => has_password).map(({ user_id }) => user_id));
  const unable = chosen?.findIndex((id) => !able.has(id)) ?? -1;
  if (unable >= 0) {
    throw invalid(`/breakGlassOwners/${unable}`, 'must be the id of an owner of the workspace who has a password');
  }
  const before = owners.filter(({ break_glass }) => break_glass).map(({ user_id }) => user_id);
  if (chosen !== undefined) await setBreakGlass(tx, workspaceId, chosen);
  if (required && (chosen ?? before).length === 0) {
    throw invalid(
      '/required',
      'needs a break-glass owner: one who reaches the workspace when the provider does not work',
    );
  }
}

function mustBeIssuer(issuer: string, networks: ControlNeeds['networks']): void {
  const problem = issuerProblem(issuer, networks);
  if (problem !== undefined) throw invalid('/issuer', problem);
}

function invalid(path: string, message: string): ApiProblem {
  return new ApiProblem('invalid_request', [{ path, message }]);
}
