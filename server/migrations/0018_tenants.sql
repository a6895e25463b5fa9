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

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_app') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON operators TO millrace_app;
  END IF;
END $$;
