-- least version: 0.1.0
-- Small sums for the home screen: the record's own counters have a row for each destination and minute, and a workspace may have
-- thousands of destinations. Kept for eight days; see store/slot-counts.ts.

-- Deliveries of a workspace by outcome, ten minutes a slot.
CREATE TABLE outcome_slots (
  workspace_id text NOT NULL,
  slot timestamptz NOT NULL,
  outcome text NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (workspace_id, slot, outcome)
);
CREATE INDEX outcome_slots_slot ON outcome_slots (slot);

-- Accepted calls of a source, five minutes a slot, by when they were received.
CREATE TABLE call_slots (
  workspace_id text NOT NULL,
  slot timestamptz NOT NULL,
  source_id text NOT NULL,
  calls bigint NOT NULL,
  PRIMARY KEY (workspace_id, slot, source_id)
);
CREATE INDEX call_slots_slot ON call_slots (slot);

-- How many deliveries waited for a destination at most, ten minutes a slot.
CREATE TABLE depth_slots (
  workspace_id text NOT NULL,
  destination_id text NOT NULL,
  slot timestamptz NOT NULL,
  depth bigint NOT NULL,
  PRIMARY KEY (workspace_id, destination_id, slot)
);
CREATE INDEX depth_slots_slot ON depth_slots (slot);

-- What was refused lately, without a look at the days before.
CREATE INDEX refusals_recent ON refusals (workspace_id, last_at);

-- So that the first day after an upgrade is not half empty.
INSERT INTO outcome_slots (workspace_id, slot, outcome, count)
  SELECT workspace_id, date_bin('10 minutes', minute, 'epoch'), outcome, sum(count)
  FROM delivery_counts WHERE minute >= date_bin('10 minutes', now(), 'epoch') - interval '1 day' GROUP BY 1, 2, 3;

DO $$
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['outcome_slots', 'call_slots', 'depth_slots']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY own_workspace ON %I USING (is_visible(workspace_id)) WITH CHECK (is_visible(workspace_id))', name);
  END LOOP;
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_app') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON outcome_slots, call_slots, depth_slots TO millrace_app;
  END IF;
END $$;
