import { type Client, escapeIdentifier, escapeLiteral } from 'pg';
import { APP_ROLE } from './open-store.ts';

/**
 * Sets up the fences as the owner of the tables: the service's role, its grants, and a trigger that makes the audit log
 * append-only, for the owner too. Migrations do part of this once, as far as their login was allowed to; this runs at every
 * start, restores missing parts and changes nothing else.
 */
export async function fenceDatabase(client: Client, serviceLogin: string): Promise<void> {
  const { rows } = await client.query<{ owns: boolean }>(
    `SELECT pg_has_role(current_user, relowner, 'MEMBER') AS owns FROM pg_class WHERE oid = 'audit_log'::regclass`,
  );
  if (rows[0]?.owns !== true) return;
  await client.query('BEGIN');
  try {
    await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('fences', 0))`);
    await client.query(ROLE);
    await client.query(MEMBERSHIP(serviceLogin));
    await client.query(RIGHTS);
    await client.query(AUDIT_TRIGGER);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

const ROLE = `DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${APP_ROLE}') THEN CREATE ROLE ${APP_ROLE} NOLOGIN; END IF;
EXCEPTION
  WHEN duplicate_object OR insufficient_privilege THEN NULL;
END $$`;

/** A login that may not grant the role leaves that to an administrator; check-login.ts reports it. */
const MEMBERSHIP = (login: string) => `DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = '${APP_ROLE}')
     AND NOT (CASE WHEN current_setting('server_version_num')::int >= 160000
              THEN pg_has_role(${escapeLiteral(login)}, '${APP_ROLE}', 'SET')
              ELSE pg_has_role(${escapeLiteral(login)}, '${APP_ROLE}', 'MEMBER') END)
  THEN GRANT ${APP_ROLE} TO ${escapeIdentifier(login)}; END IF;
EXCEPTION
  WHEN insufficient_privilege THEN NULL;
END $$`;

const RIGHTS = `DO $$
DECLARE
  of_table record;
  wanted text;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${APP_ROLE}') THEN RETURN; END IF;
  FOR of_table IN
    SELECT c.oid, c.relname FROM pg_class c, pg_class ours
    WHERE ours.oid = 'audit_log'::regclass AND c.relnamespace = ours.relnamespace AND c.relowner = ours.relowner
      AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  LOOP
    wanted := CASE of_table.relname WHEN 'audit_log' THEN 'SELECT, INSERT' WHEN 'schema_migrations' THEN 'SELECT' WHEN 'schema_additions' THEN 'SELECT'
              ELSE 'SELECT, INSERT, UPDATE, DELETE' END;
    IF EXISTS (SELECT FROM unnest(string_to_array(wanted, ', ')) AS one
               WHERE NOT has_table_privilege('${APP_ROLE}', of_table.oid, one)) THEN
      EXECUTE format('GRANT %s ON %I TO ${APP_ROLE}', wanted, of_table.relname);
    END IF;
  END LOOP;
  -- What is in the audit log stays there.
  IF has_table_privilege('${APP_ROLE}', 'audit_log', 'UPDATE, DELETE, TRUNCATE') THEN
    REVOKE UPDATE, DELETE, TRUNCATE ON audit_log FROM PUBLIC, ${APP_ROLE};
  END IF;
  IF NOT has_function_privilege('${APP_ROLE}', 'make_record_partition(text, date, date)', 'EXECUTE')
     OR NOT has_function_privilege('${APP_ROLE}', 'make_sized_partition(text, date, date, date, integer)', 'EXECUTE')
     OR NOT has_function_privilege('${APP_ROLE}', 'drop_record_partition(text, date)', 'EXECUTE')
     OR NOT has_function_privilege('${APP_ROLE}', 'remove_audit_log(text)', 'EXECUTE') THEN
    GRANT EXECUTE ON FUNCTION make_record_partition(text, date, date), make_sized_partition(text, date, date, date, integer),
      drop_record_partition(text, date), remove_audit_log(text) TO ${APP_ROLE};
  END IF;
END $$`;

const AUDIT_TRIGGER = `DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'audit_log'::regclass AND tgname = 'audit_log_stays') THEN RETURN; END IF;
  CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $body$
  BEGIN
    IF TG_OP = 'DELETE' AND coalesce(current_setting('millrace.ended_workspace', true), '') <> '' THEN RETURN NULL; END IF;
    RAISE EXCEPTION 'entries of the audit log are never changed or removed' USING ERRCODE = 'insufficient_privilege';
  END $body$;
  CREATE TRIGGER audit_log_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
END $$`;
