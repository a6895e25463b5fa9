import { CreatedToken, NewToken, PageQuery, Tokens } from '@millrace/contract/control';
import type { Tx } from '../../../store/open-store.ts';
import { deleteToken, findToken, insertToken, listTokens, type TokenRow } from '../../../store/tokens.ts';
import type { Actor } from '../../access/actor.ts';
import { withRoleNow } from '../../access/authenticate.ts';
import { revokeMadeBy } from '../../access/maker-rights.ts';
import { newId } from '../../../store/new-id.ts';
import { readPage, toPage } from '../../http/paging.ts';
import { isAtMost, PERMISSION_NAMES, type RoleName } from '../../access/permissions.ts';
import { ApiProblem, found } from '../../problems/problems.ts';
import { type Route, route } from '../../http/route.ts';
import { hashOfSecret, hintOfSecret, makeSecret } from '../../access/secret-text.ts';

const WRITE = { permission: 'tokens:write' } as const;

export const tokenRoutes: Route[] = [
  route({
    method: 'GET',
    url: '/api/v1/tokens',
    summary: 'The API tokens of the workspace',
    permission: 'tokens:read',
    query: PageQuery,
    answer: Tokens,
    status: 200,
    async handle({ tx, actor, query }, { now }) {
      const page = readPage(query);
      const rows = await listTokens(tx, actor.workspaceId, page);
      const roles = new Map<string, RoleName | null>();
      for (const row of rows) roles.set(row.id, await roleOf(tx, row, now()));
      return toPage(rows, page, { item: (row) => toToken(row, roles.get(row.id) ?? null), key: (row) => row.id });
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/tokens',
    summary: 'Creates an API token; only this answer shows it',
    body: NewToken,
    answer: CreatedToken,
    status: 201,
    ...WRITE,
    async handle({ tx, actor, body, audit }, { now }) {
      mustBeOursToGive({ role: body.role, scopes: body.scopes }, actor);
      const latest = await ownEnd(tx, actor);
      const expiresAt = body.expiresAt === undefined ? latest : new Date(body.expiresAt);
      // A leap second is valid RFC 3339 but an invalid Date, which compares as false.
      if (expiresAt !== null && !(expiresAt > now())) throw invalid('/expiresAt', 'must be in the future');
      if (expiresAt !== null && latest !== null && expiresAt > latest) {
        throw invalid('/expiresAt', `must not be after ${latest.toISOString()}, the end of the token that asks`);
      }
      const secret = makeSecret('mlr');
      const row = await insertToken(tx, {
        workspaceId: actor.workspaceId,
        id: newId('tok'),
        name: body.name,
        role: body.role,
        scopes: body.scopes ?? null,
        secretHash: hashOfSecret(secret),
        hint: hintOfSecret(secret),
        createdBy: actor.id,
        expiresAt,
      });
      const token = toToken(found(row), body.role);
      const details = { name: token.name, role: token.role, scopes: token.scopes, expiresAt: token.expiresAt };
      await audit('token.created', token.id, { details });
      return { ...token, token: secret };
    },
  }),
  route({
    method: 'DELETE',
    url: '/api/v1/tokens/:id',
    summary: 'Revokes an API token, and the tokens made with it',
    status: 204,
    ...WRITE,
    async handle({ tx, actor, params, audit }) {
      const token = found(await deleteToken(tx, actor.workspaceId, params.id));
      if (!isAtMost(token.role as RoleName, actor.role)) throw new ApiProblem('not_allowed');
      const revokedTokens = await revokeMadeBy(tx, actor.workspaceId, token.id);
      await audit('token.revoked', token.id, { details: { name: token.name, revokedTokens } });
    },
  }),
];

/** A token never has more than its maker: neither a higher role nor, from a token with scopes, wider scopes. */
function mustBeOursToGive(token: { role: RoleName; scopes: string[] | undefined }, own: Actor): void {
  const known: readonly string[] = PERMISSION_NAMES;
  const unknown = token.scopes?.find((scope) => !known.includes(scope));
  if (unknown !== undefined) throw invalid('/scopes', `${unknown} is none of ${known.join(', ')}`);
  const isNarrowEnough =
    own.scopes === undefined || token.scopes?.every((scope) => own.scopes?.includes(scope)) === true;
  if (!isAtMost(token.role, own.role) || !isNarrowEnough) throw new ApiProblem('not_allowed');
}

/** A token lives no longer than the one that made it; null for people, and for tokens without an end. */
async function ownEnd(tx: Tx, { kind, workspaceId, id }: Actor): Promise<Date | null> {
  if (kind === 'user') return null;
  return found(await findToken(tx, workspaceId, id)).expires_at;
}

/** The role that a token has now; null for one that has ended. */
async function roleOf(tx: Tx, row: TokenRow, at: Date): Promise<RoleName | null> {
  const hasEnded = row.expires_at !== null && row.expires_at <= at;
  const now = hasEnded ? undefined : await withRoleNow(tx, row);
  return (now?.role as RoleName | undefined) ?? null;
}

function invalid(path: string, message: string): ApiProblem {
  return new ApiProblem('invalid_request', [{ path, message }]);
}

function toToken(row: TokenRow, roleNow: RoleName | null) {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    scopes: row.scopes,
    hint: row.hint,
    createdBy: row.created_by,
    endsWithMaker: row.ends_with_maker,
    roleNow,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    lastUsedAddress: row.last_used_address,
  };
}
