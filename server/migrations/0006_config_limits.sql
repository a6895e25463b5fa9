-- least version: 0.1.0
-- Entries that the config bucket does not take. The projector sets them aside, so that the changes behind them go on, and
-- tries them again; the API shows them on their source or destination.
CREATE TABLE projection_failures (
  workspace_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('source', 'destination', 'user')),
  object_id text NOT NULL,
  why text NOT NULL,
  since timestamptz NOT NULL DEFAULT now(),
  tried_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (kind, object_id)
);
CREATE INDEX projection_failures_tried ON projection_failures (tried_at);
ALTER TABLE projection_failures ENABLE ROW LEVEL SECURITY;
ALTER TABLE projection_failures FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON projection_failures USING (is_visible(workspace_id)) WITH CHECK (is_visible(workspace_id));

-- Whether a change still waits is asked by the id of its source or destination.
CREATE INDEX outbox_object ON outbox (object_id);

-- About the bytes of a destination's entry in the bucket: what is added up for the limit of a workspace.
ALTER TABLE destinations ADD COLUMN entry_bytes integer
  GENERATED ALWAYS AS (octet_length(settings::text) + octet_length(filters::text) + octet_length(name) + 500) STORED;
CREATE INDEX destinations_bytes ON destinations (workspace_id) INCLUDE (entry_bytes);
CREATE INDEX source_events_blocked ON source_events (workspace_id) INCLUDE (name) WHERE blocked;

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_app') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON projection_failures TO millrace_app;
  END IF;
END $$;
