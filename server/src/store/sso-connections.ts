/** The connection of a workspace to its OpenID provider, and the email domains of it. */
import type { Tx } from './open-store.ts';
import { oneRow } from './rows.ts';

export type GroupRole = { group: string; role: string };

export type ConnectionRow = {
  workspace_id: string;
  id: string;
  issuer: string;
  client_id: string;
  client_secret_sealed: Buffer;
  groups_claim: string;
  group_roles: GroupRole[];
  default_role: string | null;
  required: boolean;
  last_sign_in_at: Date | null;
  created_at: Date;
  updated_at: Date;
};

export type SavedConnection = {
  workspaceId: string;
  id: string;
  issuer: string;
  clientId: string;
  clientSecretSealed: Buffer;
  groupsClaim: string;
  groupRoles: readonly GroupRole[];
  defaultRole: string | null;
  required: boolean;
};

export type DomainRow = { workspace_id: string; domain: string; verified_at: Date | null };

const COLUMNS = `workspace_id, id, issuer, client_id, client_secret_sealed, groups_claim, group_roles, default_role, required,
  last_sign_in_at, created_at, updated_at`;

export function findConnection(tx: Tx, workspaceId: string): Promise<ConnectionRow | undefined> {
  return oneRow(tx, `SELECT ${COLUMNS} FROM sso_connections WHERE workspace_id = $1`, [workspaceId]);
}

/** Sign-ins and changes of one connection go one after the other. */
export function lockConnection(tx: Tx, workspaceId: string): Promise<ConnectionRow | undefined> {
  return oneRow(tx, `SELECT ${COLUMNS} FROM sso_connections WHERE workspace_id = $1 FOR UPDATE`, [workspaceId]);
}

/** False when the workspace has a connection already. */
export async function insertConnection(tx: Tx, saved: SavedConnection): Promise<boolean> {
  const sql = `INSERT INTO sso_connections (workspace_id, id, issuer, client_id, client_secret_sealed, groups_claim, group_roles,
      default_role, required) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (workspace_id) DO NOTHING RETURNING id`;
  return (await tx.query(sql, valuesOf(saved))).length > 0;
}

export async function updateConnection(tx: Tx, saved: SavedConnection): Promise<void> {
  const sql = `UPDATE sso_connections SET issuer = $3, client_id = $4, client_secret_sealed = $5, groups_claim = $6,
      group_roles = $7, default_role = $8, required = $9, updated_at = now() WHERE workspace_id = $1 AND id = $2`;
  await tx.query(sql, valuesOf(saved));
}

function valuesOf(saved: SavedConnection): unknown[] {
  const { workspaceId, id, issuer, clientId, clientSecretSealed, groupsClaim, groupRoles, defaultRole, required } =
    saved;
  const roles = JSON.stringify(groupRoles);
  return [workspaceId, id, issuer, clientId, clientSecretSealed, groupsClaim, roles, defaultRole, required];
}

export async function deleteConnection(tx: Tx, workspaceId: string): Promise<void> {
  await tx.query('DELETE FROM sso_connections WHERE workspace_id = $1', [workspaceId]);
}

export async function noteSignIn(tx: Tx, workspaceId: string): Promise<void> {
  await tx.query('UPDATE sso_connections SET last_sign_in_at = now() WHERE workspace_id = $1', [workspaceId]);
}

export function listDomains(tx: Tx, workspaceId: string): Promise<DomainRow[]> {
  const sql = 'SELECT workspace_id, domain, verified_at FROM sso_domains WHERE workspace_id = $1 ORDER BY domain';
  return tx.query(sql, [workspaceId]);
}

/** A domain that stays in the list stays verified. */
export async function setDomains(tx: Tx, workspaceId: string, domains: readonly string[]): Promise<void> {
  await tx.query('DELETE FROM sso_domains WHERE workspace_id = $1 AND domain <> ALL ($2)', [workspaceId, domains]);
  const sql = `INSERT INTO sso_domains (workspace_id, domain) SELECT $1, unnest($2::text[])
    ON CONFLICT (workspace_id, domain) DO NOTHING`;
  await tx.query(sql, [workspaceId, domains]);
}

/** Takes the domain from another workspace that has it: its name servers name this one now. Only for a transaction of the system. */
export async function verifyDomain(tx: Tx, workspaceId: string, domain: string): Promise<void> {
  await tx.query('UPDATE sso_domains SET verified_at = NULL WHERE domain = $2 AND workspace_id <> $1', [
    workspaceId,
    domain,
  ]);
  const sql = 'UPDATE sso_domains SET verified_at = now() WHERE workspace_id = $1 AND domain = $2';
  await tx.query(sql, [workspaceId, domain]);
}

export async function findHolder(tx: Tx, domain: string): Promise<string | undefined> {
  const sql = 'SELECT workspace_id FROM sso_domains WHERE domain = $1 AND verified_at IS NOT NULL';
  return (await oneRow<{ workspace_id: string }>(tx, sql, [domain]))?.workspace_id;
}

/** The connection that people with an address of this domain sign in by. */
export function findConnectionOfDomain(tx: Tx, domain: string): Promise<ConnectionRow | undefined> {
  const sql = `SELECT ${COLUMNS} FROM sso_connections WHERE workspace_id =
    (SELECT workspace_id FROM sso_domains WHERE domain = $1 AND verified_at IS NOT NULL)`;
  return oneRow(tx, sql, [domain]);
}
