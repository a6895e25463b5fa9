-- least version: 0.1.0
-- People join by a one-use link and choose their password themselves. Only the hash of the link's secret is kept.
CREATE TABLE invitations (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  id text NOT NULL,
  email text NOT NULL,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'viewer')),
  secret_hash bytea NOT NULL UNIQUE,
  -- A user or a token; the invitation ends when they may not give this role any more.
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX invitations_email ON invitations (workspace_id, lower(email));
ALTER TABLE invitations ENABLE ROW LEVEL SECURITY;
ALTER TABLE invitations FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON invitations USING (is_visible(workspace_id)) WITH CHECK (is_visible(workspace_id));

-- A token has no more rights than the user or token that made it has now, and ends with it. Tokens whose maker was gone when this
-- was introduced go on, and the API says so.
ALTER TABLE tokens ADD COLUMN ends_with_maker boolean NOT NULL DEFAULT true;
UPDATE tokens t SET ends_with_maker = false
  WHERE NOT EXISTS (SELECT FROM members m WHERE m.workspace_id = t.workspace_id AND m.user_id = t.created_by)
    AND NOT EXISTS (SELECT FROM tokens p WHERE p.workspace_id = t.workspace_id AND p.id = t.created_by);
CREATE INDEX tokens_maker ON tokens (workspace_id, created_by);

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_app') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON invitations TO millrace_app;
  END IF;
END $$;
