-- least version: 0.1.0
-- What happened to deliveries, for people to ask. Written by the recorder in control from the stream OUTCOMES.
-- Partitioned by the day the event was received, so that all that happens to one delivery meets in one partition, and a
-- day that is over its time is dropped whole. Partitions are made by the functions below: see store/record-partitions.ts.

CREATE TABLE deliveries (
  workspace_id text NOT NULL,
  id text NOT NULL,
  received_on date NOT NULL,
  received_at timestamptz NOT NULL,
  source_id text NOT NULL,
  destination_id text NOT NULL,
  message_id text NOT NULL,
  type text NOT NULL,
  name text,
  user_id text,
  anonymous_id text,
  state text NOT NULL,
  -- Why it was skipped, or given up without an attempt.
  reason text,
  -- Of the fact that decides the state: an older one that comes later changes nothing.
  changed_at timestamptz NOT NULL,
  attempts integer NOT NULL,
  first_attempt_at timestamptz,
  last_attempt_at timestamptz,
  last_status integer,
  error_class text,
  sentence text,
  next_at timestamptz,
  -- Which outcomes of this delivery are in delivery_counts, one bit each.
  counted smallint NOT NULL,
  PRIMARY KEY (id, received_on)
) PARTITION BY RANGE (received_on);
CREATE INDEX deliveries_newest ON deliveries (workspace_id, received_at);
CREATE INDEX deliveries_destination ON deliveries (destination_id, received_at);
CREATE INDEX deliveries_source ON deliveries (source_id, received_at);
CREATE INDEX deliveries_message ON deliveries (workspace_id, message_id);
CREATE INDEX deliveries_user ON deliveries (workspace_id, user_id, received_at) WHERE user_id IS NOT NULL;
CREATE INDEX deliveries_name ON deliveries (workspace_id, name, received_at) WHERE name IS NOT NULL;
-- A destination that never got an event by this name would be searched to the end otherwise.
CREATE INDEX deliveries_destination_name ON deliveries (destination_id, name, received_at) WHERE name IS NOT NULL;
-- Most deliveries are delivered: the others are few, and what people look for.
CREATE INDEX deliveries_state ON deliveries (workspace_id, state, received_at) WHERE state <> 'delivered';
CREATE INDEX deliveries_trouble ON deliveries (destination_id, state, received_at) WHERE state <> 'delivered';
CREATE INDEX deliveries_error ON deliveries (workspace_id, error_class, received_at) WHERE error_class IS NOT NULL;
CREATE INDEX deliveries_destination_error ON deliveries (destination_id, error_class, received_at)
  WHERE error_class IS NOT NULL;

CREATE TABLE attempts (
  workspace_id text NOT NULL,
  delivery_id text NOT NULL,
  received_on date NOT NULL,
  destination_id text NOT NULL,
  -- Two attempts with the same number were both made: a process died before it could say so.
  at timestamptz NOT NULL,
  attempt integer NOT NULL,
  outcome text NOT NULL,
  total_ms real NOT NULL,
  answers jsonb NOT NULL,
  next_at timestamptz,
  PRIMARY KEY (delivery_id, received_on, at, attempt)
) PARTITION BY RANGE (received_on);
CREATE INDEX attempts_destination ON attempts (destination_id, at);

-- Each delivery once for each of its ends, in the minute it ended; each attempt that is tried again once, as retry.
CREATE TABLE delivery_counts (
  workspace_id text NOT NULL,
  destination_id text NOT NULL,
  minute timestamptz NOT NULL,
  outcome text NOT NULL,
  -- Or the reason of a skip; empty for what was delivered.
  error_class text NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (destination_id, minute, outcome, error_class)
) PARTITION BY RANGE (minute);
CREATE INDEX delivery_counts_workspace ON delivery_counts (workspace_id, minute);

-- Calls accepted, before any filter. `month` is its first day, in UTC.
CREATE TABLE usage (
  workspace_id text NOT NULL,
  source_id text NOT NULL,
  month date NOT NULL,
  calls bigint NOT NULL,
  PRIMARY KEY (workspace_id, source_id, month)
);

-- How far each event stream has been counted; moved in the transaction of the counts, so each request counts once.
CREATE TABLE usage_positions (
  stream text PRIMARY KEY,
  sequence bigint NOT NULL
);

-- Calls that collect refused, as far as it could tell us.
CREATE TABLE refusals (
  workspace_id text NOT NULL,
  source_id text NOT NULL,
  code text NOT NULL,
  day date NOT NULL,
  count bigint NOT NULL,
  last_at timestamptz NOT NULL,
  -- The latest ones, newest first.
  samples jsonb NOT NULL,
  PRIMARY KEY (workspace_id, source_id, code, day)
);

-- The app role owns no table, so it asks these. Attached and not created in place: that lets readers go on meanwhile.
CREATE FUNCTION make_record_partition(parent text, first_day date, end_day date) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  name text := parent || '_' || to_char(first_day, 'YYYYMMDD');
BEGIN
  IF parent NOT IN ('deliveries', 'attempts', 'delivery_counts') THEN RAISE EXCEPTION 'no record is called %', parent; END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('record partitions', 0));
  IF to_regclass(quote_ident(name)) IS NOT NULL THEN RETURN; END IF;
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS)', name, parent);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                 parent, name, first_day || ' 00:00:00+00', end_day || ' 00:00:00+00');
END $$;

-- One at a time, so that nobody waits for more than one. NULL when there is none left that begins before the day.
CREATE FUNCTION drop_record_partition(parent text, before date) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  name text;
BEGIN
  IF parent NOT IN ('deliveries', 'attempts', 'delivery_counts') THEN RAISE EXCEPTION 'no record is called %', parent; END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('record partitions', 0));
  SELECT c.relname INTO name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = quote_ident(parent)::regclass AND c.relname < parent || '_' || to_char(before, 'YYYYMMDD')
    ORDER BY c.relname LIMIT 1;
  IF name IS NOT NULL THEN EXECUTE format('DROP TABLE %I', name); END IF;
  RETURN name;
END $$;

REVOKE EXECUTE ON FUNCTION make_record_partition(text, date, date), drop_record_partition(text, date) FROM PUBLIC;

DO $$
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['deliveries', 'attempts', 'delivery_counts', 'usage', 'refusals']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY own_workspace ON %I USING (is_visible(workspace_id)) WITH CHECK (is_visible(workspace_id))', name);
  END LOOP;
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_app') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON deliveries, attempts, delivery_counts, usage, usage_positions, refusals
      TO millrace_app;
    GRANT EXECUTE ON FUNCTION make_record_partition(text, date, date), drop_record_partition(text, date) TO millrace_app;
  END IF;
END $$;
