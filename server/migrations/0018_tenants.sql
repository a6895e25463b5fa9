-- least version: 0.1.0
-- The role `viewer-without-payloads`.
ALTER TABLE members DROP CONSTRAINT members_role_check;
ALTER TABLE members ADD CONSTRAINT members_role_check
  CHECK (role IN ('owner', 'admin', 'developer', 'viewer', 'viewer-without-payloads'));
ALTER TABLE tokens DROP CONSTRAINT tokens_role_check;
ALTER TABLE tokens ADD CONSTRAINT tokens_role_check
  CHECK (role IN ('owner', 'admin', 'developer', 'viewer', 'viewer-without-payloads'));
ALTER TABLE invitations DROP CONSTRAINT invitations_role_check;
ALTER TABLE invitations ADD CONSTRAINT invitations_role_check
  CHECK (role IN ('owner', 'admin', 'developer', 'viewer', 'viewer-without-payloads'));

-- Tokens with scopes were made before this permission. It opens nothing by itself, so they keep exactly the rights that they have.
UPDATE tokens SET scopes = array_append(scopes, 'payloads:read') WHERE scopes IS NOT NULL AND NOT 'payloads:read' = ANY (scopes);

-- The people and tokens that run the installation. While no person is in it, the owners of the first workspace are the operators.
CREATE TABLE operators (
  id text PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('user', 'token')),
  -- A user or a token, or `migration`, `bootstrap`, `command`.
  added_by text NOT NULL,
  added_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO operators (id, kind, added_by)
  WITH first AS (SELECT id FROM workspaces ORDER BY created_at LIMIT 1)
  SELECT m.user_id, 'user', 'migration' FROM first JOIN members m ON m.workspace_id = first.id AND m.role = 'owner'
  UNION ALL
  SELECT t.id, 'token', 'migration' FROM first JOIN tokens t ON t.workspace_id = first.id AND t.role = 'owner';

-- The last check of each whole audit log. A log without a row was never checked; `installation` stands for the log of operators.
CREATE TABLE audit_checks (
  workspace_id text PRIMARY KEY,
  checked_at timestamptz NOT NULL,
  -- How far the chain holds: the last sound entry.
  entries bigint NOT NULL,
  -- The first entry that does not fit, and why; NULL for a sound log.
  broken_sequence bigint,
  why text
);

-- Where the entries of a workspace's audit log are sent. One POST at a time, in order; the position moves when the receiver has taken them.
CREATE TABLE audit_streams (
  workspace_id text PRIMARY KEY REFERENCES workspaces ON DELETE CASCADE,
  -- Another one each time that the stream is set.
  id text NOT NULL,
  url text NOT NULL,
  secret_sealed bytea NOT NULL,
  -- The last entry that the receiver has taken.
  position bigint NOT NULL,
  -- Attempts in a row that failed.
  failures integer NOT NULL DEFAULT 0,
  -- Also the lease: a process that sends moves it ahead first.
  next_at timestamptz NOT NULL DEFAULT now(),
  last_error text,
  delivered_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audit_streams_due ON audit_streams (next_at);

-- Workspaces that come to their end. Until ends_at the end can be undone, and nothing is removed: sources are closed, destinations paused.
-- Afterwards control removes everything, step by step; each step can be repeated.
CREATE TABLE workspace_ends (
  workspace_id text PRIMARY KEY,
  asked_by text NOT NULL,
  asked_at timestamptz NOT NULL DEFAULT now(),
  ends_at timestamptz NOT NULL,
  step text NOT NULL DEFAULT 'waiting' CHECK (step IN ('waiting', 'engine', 'rows', 'again', 'last')),
  -- Sources and destinations, to be found in NATS when their rows are gone.
  names jsonb,
  leased_until timestamptz
);

-- The only way in which entries of an audit log end: with their workspace, after its time.
CREATE FUNCTION remove_audit_log(ended text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM workspace_ends e WHERE e.workspace_id = ended AND e.step = 'last' AND e.ends_at <= now()) THEN
    RAISE EXCEPTION 'the workspace % has not come to its end', ended;
  END IF;
  PERFORM set_config('millrace.ended_workspace', ended, true);
  DELETE FROM audit_log WHERE workspace_id = ended;
  PERFORM set_config('millrace.ended_workspace', '', true);
END $$;
REVOKE EXECUTE ON FUNCTION remove_audit_log(text) FROM PUBLIC;

-- Also in store/fence-database.ts, which makes the trigger.
CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND coalesce(current_setting('millrace.ended_workspace', true), '') <> '' THEN RETURN NULL; END IF;
  RAISE EXCEPTION 'entries of the audit log are never changed or removed' USING ERRCODE = 'insufficient_privilege';
END $$;

DO $$
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['audit_checks', 'audit_streams', 'workspace_ends']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY own_workspace ON %I USING (is_visible(workspace_id)) WITH CHECK (is_visible(workspace_id))', name);
  END LOOP;
END $$;

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_app') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON operators, audit_checks, audit_streams, workspace_ends TO millrace_app;
    GRANT EXECUTE ON FUNCTION remove_audit_log(text) TO millrace_app;
  END IF;
END $$;
