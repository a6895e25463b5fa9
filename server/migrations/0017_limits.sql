-- least version: 0.1.0
-- The limits of a workspace that the operator changed; the settings have the others. A version that does not know a name leaves it alone.
CREATE TABLE workspace_limits (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  name text NOT NULL,
  most bigint NOT NULL CHECK (most > 0),
  changed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, name)
);
ALTER TABLE workspace_limits ENABLE ROW LEVEL SECURITY;
ALTER TABLE workspace_limits FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON workspace_limits USING (is_visible(workspace_id)) WITH CHECK (is_visible(workspace_id));

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_app') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON workspace_limits TO millrace_app;
  END IF;
END $$;
