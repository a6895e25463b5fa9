/**
 * Checks the second fence for the service's login: row-level security between workspaces, and an append-only audit log, both
 * enforced by PostgreSQL. A fence is missing when a query of the service could bypass it, and liftable when the login could turn
 * it off first.
 */
import { connected } from './migrate-database.ts';
import { APP_ROLE, CAN_PLAY } from './open-store.ts';

export type Login = {
  name: string;
  /** Whether its transactions can SET ROLE to the role that the fences bind. */
  playsAppRole: boolean;
  isSuperuser: boolean;
  bypassesRls: boolean;
  /** By itself, or as a member of the role that owns them. */
  ownsTables: boolean;
  /** The same of the role that queries run as: the service's own, or the login itself. */
  queries: { isSuperuser: boolean; bypassesRls: boolean; changesAudit: boolean };
  /** Tables of workspaces without row-level security for the role that queries run as. */
  openTables: string[];
  /** Whether a trigger refuses changes of the audit log. */
  hasAuditTrigger: boolean;
};

export type LoginVerdict = { missing: string[]; liftable: string[] };

export const HOW_TO_MEND =
  'Let one login own the tables (MILLRACE_MIGRATION_DATABASE_URL) and another, plain one serve (MILLRACE_DATABASE_URL), with GRANT millrace_app TO it: docs/run/postgresql.md, two logins';

export function judgeLogin(login: Login): LoginVerdict {
  const { name, queries, openTables } = login;
  const missing: string[] = [];
  if (queries.isSuperuser || queries.bypassesRls) {
    missing.push(`queries run as a role that row-level security does not bind (login ${name})`);
  } else if (openTables.length > 0) {
    missing.push(`row-level security is off for ${openTables.join(', ')}`);
  }
  if (queries.changesAudit && !login.hasAuditTrigger) missing.push('queries could change the audit log');
  const liftable: string[] = [];
  if (login.isSuperuser) liftable.push(`the login ${name} is a superuser`);
  else if (login.bypassesRls) liftable.push(`the login ${name} has BYPASSRLS`);
  else if (login.ownsTables) liftable.push(`the login ${name} owns the tables`);
  if (!login.playsAppRole) liftable.push(`the login ${name} cannot play the role ${APP_ROLE}`);
  return { missing, liftable };
}

export async function readLogin(databaseUrl: string): Promise<Login> {
  await using service = await connected(databaseUrl);
  const { rows } = await service.client.query<Login>(QUESTION, [APP_ROLE]);
  const [login] = rows;
  if (login === undefined) throw new Error('PostgreSQL does not know the login of the service');
  return login;
}

const QUESTION = `
  WITH login AS (SELECT * FROM pg_roles WHERE rolname = current_user),
    app AS (SELECT oid, rolsuper, rolbypassrls, ${CAN_PLAY} AS can FROM pg_roles WHERE rolname = $1),
    queries AS (SELECT oid, rolsuper, rolbypassrls FROM app WHERE can
      UNION ALL SELECT oid, rolsuper, rolbypassrls FROM login WHERE NOT EXISTS (SELECT FROM app WHERE can)),
    audit AS (SELECT oid, relowner, relnamespace FROM pg_class WHERE oid = 'audit_log'::regclass)
  SELECT login.rolname AS name, EXISTS (SELECT FROM app WHERE can) AS "playsAppRole",
    login.rolsuper AS "isSuperuser", login.rolbypassrls AS "bypassesRls",
    pg_has_role(login.oid, audit.relowner, 'MEMBER') AS "ownsTables",
    json_build_object('isSuperuser', queries.rolsuper, 'bypassesRls', queries.rolbypassrls,
      'changesAudit', has_table_privilege(queries.oid, audit.oid, 'UPDATE, DELETE, TRUNCATE')) AS queries,
    ARRAY(SELECT DISTINCT c.relname::text FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname IN ('workspace_id', 'profile_key') AND NOT a.attisdropped
      WHERE c.relnamespace = audit.relnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND NOT (c.relrowsecurity AND (c.relforcerowsecurity OR NOT pg_has_role(queries.oid, c.relowner, 'MEMBER')))
      ORDER BY 1) AS "openTables",
    EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = audit.oid AND t.tgname = 'audit_log_stays'
      AND t.tgenabled <> 'D') AS "hasAuditTrigger"
  FROM login, audit, queries`;
