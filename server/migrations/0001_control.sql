-- least version: 0.1.0
-- The control plane: who may do what, and what they have set up.
-- Every table of a workspace begins with workspace_id, and row-level security is the second fence behind the queries:
-- a transaction sees the rows of the workspace it has named, or of all of them if it has said that it is the system.

CREATE FUNCTION is_visible(row_workspace_id text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT row_workspace_id = current_setting('millrace.workspace_id', true)
      OR current_setting('millrace.system', true) = 'on'
$$;

CREATE TABLE workspaces (
  id text PRIMARY KEY,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE users (
  id text PRIMARY KEY,
  email text NOT NULL,
  name text NOT NULL,
  password_hash text,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX users_email ON users (lower(email));

CREATE TABLE sessions (
  id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  secret_hash bytea NOT NULL UNIQUE,
  address text NOT NULL,
  user_agent text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_seen_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_user ON sessions (user_id);

-- The one-time links of the first start, one for each process that found no workspace; gone once there is one.
CREATE TABLE setup_tokens (
  secret_hash bytea PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE members (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'viewer')),
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX members_user ON members (user_id);

CREATE TABLE tokens (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  id text NOT NULL,
  name text NOT NULL,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'developer', 'viewer')),
  scopes text[],
  secret_hash bytea NOT NULL UNIQUE,
  hint text NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  last_used_at timestamptz,
  PRIMARY KEY (workspace_id, id)
);

CREATE TABLE sources (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  id text NOT NULL,
  name text NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  rate_limit_per_second integer CHECK (rate_limit_per_second > 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id),
  UNIQUE (id)
);

CREATE TABLE write_keys (
  workspace_id text NOT NULL,
  id text NOT NULL,
  source_id text NOT NULL,
  label text NOT NULL,
  key_hash bytea NOT NULL UNIQUE,
  key_sealed bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  revoked_at timestamptz,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, source_id) REFERENCES sources (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX write_keys_source ON write_keys (workspace_id, source_id);

-- Event names seen in a source's track calls, and which of them are blocked.
CREATE TABLE source_events (
  workspace_id text NOT NULL,
  source_id text NOT NULL,
  name text NOT NULL,
  blocked boolean NOT NULL DEFAULT false,
  first_seen_at timestamptz,
  last_seen_at timestamptz,
  PRIMARY KEY (workspace_id, source_id, name),
  FOREIGN KEY (workspace_id, source_id) REFERENCES sources (workspace_id, id) ON DELETE CASCADE
);

CREATE TABLE destinations (
  workspace_id text NOT NULL,
  id text NOT NULL,
  source_id text NOT NULL,
  catalog text NOT NULL,
  name text NOT NULL,
  enabled boolean NOT NULL DEFAULT false,
  -- Secret values are sealed inside; see server/src/control/seal.ts.
  settings jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id),
  UNIQUE (id),
  FOREIGN KEY (workspace_id, source_id) REFERENCES sources (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX destinations_source ON destinations (workspace_id, source_id);

-- Who changed what. Each row holds the hash of the one before it, so that a row taken out or changed shows.
CREATE TABLE audit_log (
  workspace_id text NOT NULL,
  sequence bigint NOT NULL,
  at timestamptz NOT NULL,
  actor jsonb NOT NULL,
  action text NOT NULL,
  object_id text NOT NULL,
  details jsonb NOT NULL,
  previous_hash bytea NOT NULL,
  hash bytea NOT NULL,
  PRIMARY KEY (workspace_id, sequence)
);

-- What the config bucket has to be told of. Changes go before repairs, which may be many.
CREATE TABLE outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('source', 'destination')),
  object_id text NOT NULL,
  is_repair boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX outbox_order ON outbox (is_repair, id);

CREATE TABLE idempotency_keys (
  workspace_id text NOT NULL,
  key text NOT NULL,
  request_hash bytea NOT NULL,
  status integer,
  answer_sealed bytea,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, key)
);
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);

-- Which keys have sealed something here, each with a known text that it sealed: a start with a wrong ring is refused.
CREATE TABLE key_ring (
  key_id integer PRIMARY KEY,
  canary bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

DO $$
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['members', 'tokens', 'sources', 'write_keys', 'source_events', 'destinations', 'audit_log',
                              'outbox', 'idempotency_keys']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY own_workspace ON %I USING (is_visible(workspace_id)) WITH CHECK (is_visible(workspace_id))', name);
  END LOOP;
END $$;

-- Queries run as this role, which row-level security binds even where the service signs in as a superuser. Where we may
-- not create roles, FORCE above binds the owner of the tables instead.
DO $$
BEGIN
  CREATE ROLE millrace_app NOLOGIN;
EXCEPTION
  WHEN duplicate_object THEN NULL;
  WHEN insufficient_privilege THEN RAISE NOTICE 'the role millrace_app cannot be created here';
END $$;

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_app') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON workspaces, users, sessions, setup_tokens, members, tokens, sources, write_keys,
      source_events, destinations, outbox, idempotency_keys, key_ring TO millrace_app;
    -- What is in the audit log stays there.
    GRANT SELECT, INSERT ON audit_log TO millrace_app;
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO millrace_app;
  END IF;
END $$;
