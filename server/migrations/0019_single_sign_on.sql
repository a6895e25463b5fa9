-- least version: 0.1.0
-- Single sign-on with OpenID Connect. A workspace has at most one connection to a provider.
CREATE TABLE sso_connections (
  workspace_id text PRIMARY KEY REFERENCES workspaces ON DELETE CASCADE,
  id text NOT NULL UNIQUE,
  issuer text NOT NULL,
  client_id text NOT NULL,
  client_secret_sealed bytea NOT NULL,
  -- The claim that lists the groups of a person.
  groups_claim text NOT NULL,
  -- [{ "group": "millrace-admins", "role": "admin" }]
  group_roles jsonb NOT NULL,
  -- The role of people in no such group. NULL: they are not let in.
  default_role text CHECK (default_role IN ('owner', 'admin', 'developer', 'viewer', 'viewer-without-payloads')),
  -- Members reach the workspace by the connection alone, but for break-glass owners.
  required boolean NOT NULL DEFAULT false,
  last_sign_in_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now()
);

-- Email domains of a connection. A verified one leads people from their address to the provider, so one workspace alone has it.
CREATE TABLE sso_domains (
  workspace_id text NOT NULL REFERENCES sso_connections ON DELETE CASCADE,
  domain text NOT NULL,
  verified_at timestamptz,
  PRIMARY KEY (workspace_id, domain)
);
CREATE UNIQUE INDEX sso_domains_verified ON sso_domains (domain) WHERE verified_at IS NOT NULL;

-- A person at a provider, and their account. The subject names the person, never the email address. It ends with the membership.
CREATE TABLE sso_identities (
  workspace_id text NOT NULL,
  issuer text NOT NULL,
  subject text NOT NULL,
  user_id text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, issuer, subject),
  UNIQUE (workspace_id, issuer, user_id),
  FOREIGN KEY (workspace_id, user_id) REFERENCES members (workspace_id, user_id) ON DELETE CASCADE
);

-- Sign-ins that have begun, for ten minutes; each is taken once. The content (PKCE verifier, nonce) is sealed with the key ring.
CREATE TABLE sso_attempts (
  workspace_id text NOT NULL REFERENCES sso_connections ON DELETE CASCADE,
  id text NOT NULL,
  state_hash bytea NOT NULL UNIQUE,
  -- The hash of a cookie: the answer of the provider has to come from the browser that asked.
  browser_hash bytea NOT NULL,
  content_sealed bytea NOT NULL,
  -- Set when a signed-in person links the account with the provider.
  user_id text REFERENCES users ON DELETE CASCADE,
  session_id text REFERENCES sessions ON DELETE CASCADE,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX sso_attempts_expires ON sso_attempts (expires_at);

DO $$
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['sso_connections', 'sso_domains', 'sso_identities', 'sso_attempts']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY own_workspace ON %I USING (is_visible(workspace_id)) WITH CHECK (is_visible(workspace_id))', name);
  END LOOP;
END $$;

-- The workspace whose connection made the account. Such an account has no password and is in no other workspace, and its address
-- is shown and never looked up: it takes no address away from others.
ALTER TABLE users ADD COLUMN belongs_to text REFERENCES workspaces ON DELETE CASCADE;
DROP INDEX users_email;
CREATE UNIQUE INDEX users_email ON users (lower(email)) WHERE belongs_to IS NULL;

-- An owner who reaches the workspace with the password although single sign-on is required.
ALTER TABLE members ADD COLUMN break_glass boolean NOT NULL DEFAULT false;

-- The workspace whose connection began the session: it opens that workspace alone, and ends with the membership.
ALTER TABLE sessions ADD COLUMN bound_to text;
ALTER TABLE sessions ADD FOREIGN KEY (bound_to, user_id) REFERENCES members (workspace_id, user_id) ON DELETE CASCADE;
-- Where the browser signs out at the provider, too.
ALTER TABLE sessions ADD COLUMN sign_out_url text;

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_app') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON sso_connections, sso_domains, sso_identities, sso_attempts TO millrace_app;
  END IF;
END $$;
