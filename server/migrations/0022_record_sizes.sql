-- least version: 0.1.0
-- Partitions of the record that fit its rate: several days in one where rows are few, several parts of one day where they are many.
-- store/record-partitions.ts decides the sizes. The functions of earlier versions stay, with days that may be covered already.

-- The days of a partition, from its first on and before its end.
CREATE FUNCTION record_partitions(parent text) RETURNS TABLE (name text, first_day date, end_day date)
LANGUAGE sql STABLE SET search_path FROM CURRENT SET datestyle = 'ISO' SET timezone = 'UTC' AS $$
  SELECT c.relname::text, (regexp_match(bounds.words, 'FROM \(''(.{10})'))[1]::date, (regexp_match(bounds.words, 'TO \(''(.{10})'))[1]::date
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid, LATERAL pg_get_expr(c.relpartbound, c.oid) AS bounds (words)
  WHERE i.inhparent = quote_ident(parent)::regclass
$$;

-- A partition with a day in it, unless one has it already: from the first day to the end as far as no other partition is in the way.
CREATE FUNCTION make_sized_partition(parent text, day date, first_day date, end_day date, parts integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  part_key text := CASE parent WHEN 'deliveries' THEN 'id' WHEN 'plain_deliveries' THEN 'id' WHEN 'attempts' THEN 'delivery_id' END;
  from_day date;
  to_day date;
  name text;
BEGIN
  IF parent NOT IN ('deliveries', 'attempts', 'delivery_counts', 'membership_changes', 'plain_deliveries', 'outcome_chunks') THEN
    RAISE EXCEPTION 'no record is called %', parent;
  END IF;
  IF parts NOT BETWEEN 1 AND 64 OR day NOT BETWEEN first_day AND end_day - 1 OR end_day - first_day > 366 THEN
    RAISE EXCEPTION 'no partition of % has this size', parent;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('record partitions', 0));
  IF EXISTS (SELECT FROM record_partitions(parent) p WHERE day >= p.first_day AND day < p.end_day) THEN RETURN; END IF;
  SELECT greatest(make_sized_partition.first_day, max(p.end_day)) INTO from_day FROM record_partitions(parent) p WHERE p.end_day <= day;
  SELECT least(make_sized_partition.end_day, min(p.first_day)) INTO to_day FROM record_partitions(parent) p WHERE p.first_day > day;
  name := parent || '_' || to_char(from_day, 'YYYYMMDD');
  IF parts = 1 OR part_key IS NULL THEN
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS)', name, parent);
  ELSE
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS) PARTITION BY HASH (%I)', name, parent, part_key);
    FOR part IN 0 .. parts - 1 LOOP
      EXECUTE format('CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS %s, REMAINDER %s)', name || '_' || part, name, parts, part);
    END LOOP;
  END IF;
  EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                 parent, name, from_day || ' 00:00:00+00', to_day || ' 00:00:00+00');
END $$;

CREATE OR REPLACE FUNCTION make_record_partition(parent text, first_day date, end_day date) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
  SELECT make_sized_partition(parent, first_day, first_day, end_day, 1)
$$;

-- Gives up after two seconds: a reader that lasts would hold up every other reader and the recorders behind this.
CREATE OR REPLACE FUNCTION drop_record_partition(parent text, before date) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '2s' AS $$
DECLARE
  name text;
BEGIN
  IF parent NOT IN ('deliveries', 'attempts', 'delivery_counts', 'membership_changes', 'plain_deliveries', 'outcome_chunks') THEN
    RAISE EXCEPTION 'no record is called %', parent;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('record partitions', 0));
  SELECT p.name INTO name FROM record_partitions(parent) p WHERE p.end_day <= before ORDER BY p.first_day LIMIT 1;
  IF name IS NOT NULL THEN EXECUTE format('DROP TABLE %I', name); END IF;
  RETURN name;
END $$;

REVOKE EXECUTE ON FUNCTION record_partitions(text), make_sized_partition(text, date, date, date, integer) FROM PUBLIC;
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_app') THEN
    GRANT EXECUTE ON FUNCTION make_sized_partition(text, date, date, date, integer) TO millrace_app;
  END IF;
END $$;
