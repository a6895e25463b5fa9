-- least version: 0.1.0
-- Work that people start and that takes a while: replays, re-driven dead letters, deletion requests. Control runs it, one
-- process at a time for each job, and writes down after each step where to go on.
CREATE TABLE jobs (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('redrive', 'replay', 'deletion')),
  state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'paused', 'cancelled', 'done', 'failed')),
  asked jsonb NOT NULL,
  -- Where to go on; what it holds is the business of the kind.
  position jsonb NOT NULL DEFAULT '{}',
  done bigint NOT NULL DEFAULT 0,
  total bigint,
  skipped jsonb NOT NULL DEFAULT '{}',
  receipt jsonb NOT NULL DEFAULT '{}',
  problem text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  -- Who runs it. A process that has died does not renew, and another one takes over.
  lease text,
  leased_until timestamptz,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (id)
);
CREATE INDEX jobs_kind ON jobs (workspace_id, kind, id);
CREATE INDEX jobs_running ON jobs (leased_until NULLS FIRST) WHERE state = 'running';

-- Users whose data was erased, by the hash of workspace and user id: the tombstone. Empty source_id: all sources.
CREATE TABLE erased_users (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  user_hash text NOT NULL,
  source_id text NOT NULL DEFAULT '',
  erased_before timestamptz NOT NULL,
  suppressed boolean NOT NULL,
  PRIMARY KEY (user_hash, source_id)
);
CREATE INDEX erased_users_workspace ON erased_users (workspace_id, erased_before);

-- Calls of suppressed users that collect dropped. Each process tells its own count of the day, again and again.
CREATE TABLE suppressed_calls (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  source_id text NOT NULL,
  day date NOT NULL,
  process text NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (workspace_id, source_id, day, process)
);

-- The config bucket hears of erased users too.
ALTER TABLE outbox DROP CONSTRAINT outbox_kind_check;
ALTER TABLE outbox ADD CONSTRAINT outbox_kind_check CHECK (kind IN ('source', 'destination', 'user'));

ALTER TABLE erased_users ENABLE ROW LEVEL SECURITY;
ALTER TABLE erased_users FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON erased_users USING (is_visible(workspace_id)) WITH CHECK (is_visible(workspace_id));
ALTER TABLE suppressed_calls ENABLE ROW LEVEL SECURITY;
ALTER TABLE suppressed_calls FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON suppressed_calls USING (is_visible(workspace_id)) WITH CHECK (is_visible(workspace_id));

ALTER TABLE jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE jobs FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON jobs USING (is_visible(workspace_id)) WITH CHECK (is_visible(workspace_id));

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_app') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON jobs, erased_users, suppressed_calls TO millrace_app;
  END IF;
END $$;
