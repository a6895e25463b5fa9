-- least version: 0.1.0
-- The latest check-up of each destination: a few requests to its receiver, and the report. The control process that took the
-- request runs it, and renews leased_until with each step: a row that is `running` after that time was left by a process that
-- ended, and reads as failed. See store/check-ups.ts.
CREATE TABLE check_ups (
  workspace_id text NOT NULL,
  destination_id text NOT NULL,
  id text NOT NULL,
  target_index int NOT NULL,
  state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'done', 'failed')),
  steps jsonb NOT NULL,
  facts jsonb,
  -- Why Millrace could not finish it.
  problem text,
  started_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  leased_until timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, destination_id),
  UNIQUE (id),
  FOREIGN KEY (workspace_id, destination_id) REFERENCES destinations (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX check_ups_running ON check_ups (workspace_id) WHERE state = 'running';

ALTER TABLE check_ups ENABLE ROW LEVEL SECURITY;
ALTER TABLE check_ups FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON check_ups USING (is_visible(workspace_id)) WITH CHECK (is_visible(workspace_id));

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_app') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON check_ups TO millrace_app;
  END IF;
END $$;
