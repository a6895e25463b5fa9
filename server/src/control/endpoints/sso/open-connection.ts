import type { KeyRing } from '../../../secrets/seal.ts';
import type { ConnectionRow } from '../../../store/sso-connections.ts';
import type { ControlNeeds } from '../../http/control-needs.ts';
import { ApiProblem } from '../../problems/problems.ts';
import type { OpenConnection } from '../../sso/ask-provider.ts';
import type { SingleSignOnNeeds } from '../../sso/single-sign-on.ts';

export function placeOfSecret({ workspaceId, id }: { workspaceId: string; id: string }) {
  return { workspaceId, table: 'sso_connections', column: 'client_secret_sealed', rowId: id };
}

export function openConnection(row: ConnectionRow, keyRing: KeyRing): OpenConnection {
  const { workspace_id: workspaceId, id, issuer, client_id: clientId } = row;
  const clientSecret = keyRing.open(row.client_secret_sealed, placeOfSecret({ workspaceId, id }));
  return { issuer, clientId, clientSecret };
}

export function mustBePossible({ singleSignOn }: ControlNeeds): SingleSignOnNeeds {
  if (singleSignOn === undefined) throw new ApiProblem('sso_unavailable');
  return singleSignOn;
}
