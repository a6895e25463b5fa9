-- least version: 0.1.0
-- Hosts that a workspace has proven to be its own. A DNS record proves a name on every port, a file on the host proves a name with one port.
CREATE TABLE host_proofs (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  -- `hooks.example.com` for a record, `hooks.example.com:443` for a file.
  host text NOT NULL,
  way text NOT NULL CHECK (way IN ('dns', 'http')),
  proven_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, host)
);
ALTER TABLE host_proofs ENABLE ROW LEVEL SECURITY;
ALTER TABLE host_proofs FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON host_proofs USING (is_visible(workspace_id)) WITH CHECK (is_visible(workspace_id));

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_app') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON host_proofs TO millrace_app;
  END IF;
END $$;
