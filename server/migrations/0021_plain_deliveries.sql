-- least version: 0.1.0
-- Deliveries that succeeded at their first attempt and have no row in `deliveries`, because MILLRACE_RECORD_ROWS leaves some out. They are
-- in the counters: a repeated outcome finds them here and does not count again. One index instead of twelve, and nothing of a user.
CREATE TABLE plain_deliveries (
  workspace_id text NOT NULL,
  id text NOT NULL,
  received_on date NOT NULL,
  delivered_at timestamptz NOT NULL,
  status smallint,
  PRIMARY KEY (id, received_on)
) PARTITION BY RANGE (received_on);
ALTER TABLE plain_deliveries ENABLE ROW LEVEL SECURITY;
ALTER TABLE plain_deliveries FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON plain_deliveries USING (is_visible(workspace_id)) WITH CHECK (is_visible(workspace_id));

CREATE OR REPLACE FUNCTION make_record_partition(parent text, first_day date, end_day date) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  name text := parent || '_' || to_char(first_day, 'YYYYMMDD');
BEGIN
  IF parent NOT IN ('deliveries', 'attempts', 'delivery_counts', 'membership_changes', 'plain_deliveries') THEN
    RAISE EXCEPTION 'no record is called %', parent;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('record partitions', 0));
  IF to_regclass(quote_ident(name)) IS NOT NULL THEN RETURN; END IF;
  EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS)', name, parent);
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                 parent, name, first_day || ' 00:00:00+00', end_day || ' 00:00:00+00');
END $$;

CREATE OR REPLACE FUNCTION drop_record_partition(parent text, before date) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  name text;
BEGIN
  IF parent NOT IN ('deliveries', 'attempts', 'delivery_counts', 'membership_changes', 'plain_deliveries') THEN
    RAISE EXCEPTION 'no record is called %', parent;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('record partitions', 0));
  SELECT c.relname INTO name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = quote_ident(parent)::regclass AND c.relname < parent || '_' || to_char(before, 'YYYYMMDD')
    ORDER BY c.relname LIMIT 1;
  IF name IS NOT NULL THEN EXECUTE format('DROP TABLE %I', name); END IF;
  RETURN name;
END $$;

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_app') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON plain_deliveries TO millrace_app;
  END IF;
END $$;
