-- least version: 0.1.0
-- Outcomes as lines for programs that follow them (docs/inside/decisions/0060-outcomes-as-they-happen.md). The recorder writes them in the
-- transaction of the record, for workspaces that a reader has asked for.

-- How far the log of a workspace goes. The recorder locks the row last and moves it, so numbers have no gaps and become visible in their order.
CREATE TABLE outcome_exports (
  workspace_id text PRIMARY KEY,
  -- Another one for each time the log begins anew.
  generation text NOT NULL,
  position bigint NOT NULL,
  -- Of the chunk that ends at the position.
  tag text NOT NULL,
  -- Without a reader until then the recorder stops writing it.
  wanted_until timestamptz NOT NULL
);

CREATE TABLE outcome_chunks (
  workspace_id text NOT NULL,
  -- The numbers of its outcomes.
  first_position bigint NOT NULL,
  last_position bigint NOT NULL,
  -- Random: a cursor shows by it that it is of this history, and not of one that a restored backup has taken back.
  tag text NOT NULL,
  written_on date NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date,
  -- A list in JSON, one object for each outcome: nothing of a user, no contents.
  outcomes text NOT NULL,
  PRIMARY KEY (workspace_id, last_position, written_on)
) PARTITION BY RANGE (written_on);

DO $$
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['outcome_exports', 'outcome_chunks']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY own_workspace ON %I USING (is_visible(workspace_id)) WITH CHECK (is_visible(workspace_id))', name);
  END LOOP;
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_app') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON outcome_exports, outcome_chunks TO millrace_app;
  END IF;
END $$;
