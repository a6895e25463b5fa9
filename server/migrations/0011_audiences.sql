-- least version: 0.1.0
-- Audiences and computed traits. The role `compute` reads event streams and folds them, a batch a transaction, into profiles,
-- timers, memberships, history and outbox; see store/compute/.
--
-- Rows of a profile name their workspace by the first 48 bits of its key, which are those of the SHA-256 of the workspace's id: row-level
-- security compares two bounds, and the profiles of a workspace are neighbours in every index. Times are milliseconds since 1970.

CREATE FUNCTION first_profile_key() RETURNS uuid LANGUAGE sql STABLE AS $$
  SELECT (left(encode(sha256(convert_to(current_setting('millrace.workspace_id', true), 'UTF8')), 'hex'), 12) || repeat('0', 20))::uuid
$$;
CREATE FUNCTION last_profile_key() RETURNS uuid LANGUAGE sql STABLE AS $$
  SELECT (left(encode(sha256(convert_to(current_setting('millrace.workspace_id', true), 'UTF8')), 'hex'), 12) || repeat('f', 20))::uuid
$$;

-- What people define. Rows of deleted definitions stay: neither number nor key is used again.
CREATE TABLE definitions (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  id text NOT NULL,
  -- Stands for the id in states and in the tables below.
  number integer GENERATED ALWAYS AS IDENTITY UNIQUE,
  kind text NOT NULL CHECK (kind IN ('audience', 'trait')),
  -- The name of the trait in what is sent.
  key text NOT NULL,
  name text NOT NULL,
  destinations text[] NOT NULL DEFAULT '{}',
  state text NOT NULL DEFAULT 'preparing' CHECK (state IN ('preparing', 'computing', 'live', 'deleting', 'deleted')),
  -- Events before this time are missing in it, and events after the other one may be.
  complete_from timestamptz,
  incomplete_since timestamptz,
  -- What becomes of the members of one that is being deleted: they are told that they leave, or nothing.
  members_go text CHECK (members_go IN ('exit', 'leave')),
  -- The value of compute_version when the row or a version of it was last changed.
  changed_in bigint NOT NULL,
  -- The same for what is evaluated: when its live version became live, or when its members began to leave.
  revised_in bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id),
  UNIQUE (id),
  UNIQUE (workspace_id, key)
);
CREATE INDEX definitions_changed ON definitions (changed_in);

-- An edit makes a new version, which is computed beside the live one and then replaces it.
CREATE TABLE definition_versions (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  definition integer NOT NULL REFERENCES definitions (number) ON DELETE CASCADE,
  version integer NOT NULL,
  body jsonb NOT NULL,
  -- The measures that it needs, with the numbers that states use for them.
  measures jsonb NOT NULL,
  state text NOT NULL DEFAULT 'preparing' CHECK (state IN ('preparing', 'computing', 'live', 'replaced')),
  -- What is done for it now, how far (the last key), and the parts of it that are done, of how many. NULL when there is nothing to do.
  phase text DEFAULT 'start' CHECK (phase IN ('start', 'events', 'scan')),
  after_key uuid,
  done bigint NOT NULL DEFAULT 0,
  total bigint NOT NULL DEFAULT 0,
  -- Stored events of before this time were gone when they were read, in milliseconds.
  events_from bigint,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (definition, version)
);
CREATE INDEX definition_versions_unfinished ON definition_versions (definition) WHERE phase IS NOT NULL AND state <> 'replaced';

-- Workspaces with definitions. `reading`: the events that were stored before the first definition are being folded into profiles, and the
-- definitions wait. `clearing`: the last definition is gone, profiles are being deleted, and nothing is folded.
CREATE TABLE compute_workspaces (
  workspace_id text PRIMARY KEY REFERENCES workspaces ON DELETE CASCADE,
  state text NOT NULL DEFAULT 'reading' CHECK (state IN ('reading', 'ready', 'clearing')),
  -- The value of compute_version when the state was last changed.
  changed_in bigint NOT NULL,
  -- How far each stream has been read, by its name.
  read_through jsonb NOT NULL DEFAULT '{}',
  -- Events before this time are in no profile, in milliseconds. NULL when all are.
  complete_from bigint
);

-- Destinations that have to be told all members of a definition: they were attached to it later, or someone asked for it.
CREATE TABLE definition_syncs (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  definition integer NOT NULL REFERENCES definitions (number) ON DELETE CASCADE,
  destination text NOT NULL,
  after_key uuid,
  PRIMARY KEY (definition, destination)
);

-- One row. Counts the changes of definitions; locked by each of them until its end, so a reader that has seen a number has seen all
-- changes up to it.
CREATE TABLE compute_version (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  version bigint NOT NULL,
  -- Counts the changes of erased_users, by any version of control: a reader that has locked its profiles compares it once more.
  erasures bigint NOT NULL DEFAULT 0
);
INSERT INTO compute_version (version) VALUES (0);
CREATE FUNCTION count_erasure() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE compute_version SET erasures = erasures + 1;
  RETURN NULL;
END $$;
CREATE TRIGGER count_erasure AFTER INSERT OR UPDATE ON erased_users FOR EACH STATEMENT EXECUTE FUNCTION count_erasure();

-- How far each stream has been folded, and by which holder. A transaction with an older epoch fails.
CREATE TABLE compute_positions (
  stream text PRIMARY KEY,
  epoch bigint NOT NULL,
  holder text,
  -- NULL until the first batch.
  stream_created_at bigint,
  sequence bigint,
  -- When NATS stored the message with that sequence.
  stored_at bigint,
  clock bigint,
  -- Sequences before it that a newer version has to fold.
  left_sequences bigint[] NOT NULL DEFAULT '{}',
  -- Everything that is folded from now on is folded with these definitions or newer ones (compute_version).
  definitions_version bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 10);

-- From which sequence the reader of a stream folds a version: what was stored before is left to the backfill, but for sequences that the
-- reader itself has left for later. The message before was stored at stored_at.
CREATE TABLE compute_starts (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  definition integer NOT NULL,
  version integer NOT NULL,
  stream text NOT NULL,
  stream_created_at bigint NOT NULL,
  sequence bigint NOT NULL,
  stored_at bigint NOT NULL,
  left_sequences bigint[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (definition, version, stream, stream_created_at),
  FOREIGN KEY (definition, version) REFERENCES definition_versions ON DELETE CASCADE
);
-- The same for the profiles of a workspace.
CREATE TABLE workspace_starts (
  workspace_id text NOT NULL REFERENCES compute_workspaces ON DELETE CASCADE,
  stream text NOT NULL,
  stream_created_at bigint NOT NULL,
  sequence bigint NOT NULL,
  stored_at bigint NOT NULL,
  left_sequences bigint[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (workspace_id, stream, stream_created_at)
);

-- A row for each id: a profile with its state, or a link to the profile that the id stands for (all zeroes: to nobody, because it
-- was seen with two users). One table, so that one row lock settles which of the two an id is. due_at and state are in no index, so
-- almost every update stays on its page (HOT); a page needs room for one more row, and fillfactor gives it: docs/measurements/README.md.
CREATE TABLE profiles (
  due_at bigint,
  profile_key uuid NOT NULL,
  is_user boolean NOT NULL,
  id text NOT NULL,
  state bytea,
  link uuid,
  PRIMARY KEY (profile_key),
  CHECK ((state IS NULL) = (link IS NOT NULL))
) WITH (fillfactor = 90);
CREATE INDEX profiles_link ON profiles (link) WHERE link <> '00000000-0000-0000-0000-000000000000';

-- Keys that a transaction is about to create, so that a second one waits for it. Deleted by the same transaction: no other sees a row.
CREATE UNLOGGED TABLE profile_claims (profile_key uuid PRIMARY KEY);

-- One for each profile that changes by itself; profiles.due_at repeats it.
CREATE TABLE profile_timers (
  due_at bigint NOT NULL,
  profile_key uuid NOT NULL,
  PRIMARY KEY (due_at, profile_key)
);

-- Members of an audience (value is NULL), and profiles that have a value of a trait, as JSON.
CREATE TABLE memberships (
  since bigint NOT NULL,
  profile_key uuid NOT NULL,
  definition integer NOT NULL,
  sequence integer NOT NULL,
  value text,
  PRIMARY KEY (definition, profile_key)
);

-- The number of memberships. Each reader has its own row for a definition, so that none waits for another.
CREATE TABLE membership_sizes (
  workspace_id text NOT NULL,
  definition integer NOT NULL,
  stream text NOT NULL,
  members bigint NOT NULL,
  PRIMARY KEY (definition, stream)
) WITH (fillfactor = 50);
-- The number of profiles, in the same way.
CREATE TABLE profile_counts (
  workspace_id text NOT NULL,
  stream text NOT NULL,
  profiles bigint NOT NULL,
  PRIMARY KEY (workspace_id, stream)
) WITH (fillfactor = 50);
-- The sizes of definitions over time: by the minute, where one changed, and by the hour after two days.
CREATE TABLE membership_curve (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  definition integer NOT NULL REFERENCES definitions (number) ON DELETE CASCADE,
  at timestamptz NOT NULL,
  members bigint NOT NULL,
  PRIMARY KEY (definition, at)
);

-- Every transition, by the day it was written: a definition's history, newest first, and a profile's.
CREATE TABLE membership_changes (
  id bigint GENERATED ALWAYS AS IDENTITY,
  at bigint NOT NULL,
  profile_key uuid NOT NULL,
  definition integer NOT NULL,
  sequence integer NOT NULL,
  written_on date NOT NULL,
  cause text NOT NULL,
  value text NOT NULL,
  message_id text
) PARTITION BY RANGE (written_on);
CREATE INDEX membership_changes_newest ON membership_changes (definition, id);
CREATE INDEX membership_changes_profile ON membership_changes (profile_key);

-- Transitions to be sent. A row without a batch is open, and there is one for a profile and definition: later transitions coalesce with
-- it. A row with a batch is being sent and does not change: after a crash the same is sent again. A row for one destination is part of the
-- first sync of that destination.
CREATE TABLE compute_outbox (
  send_at bigint NOT NULL,
  at bigint NOT NULL,
  -- In no index, so that the mark is a HOT update.
  batch bigint,
  profile_key uuid NOT NULL,
  definition integer NOT NULL,
  sequence integer NOT NULL,
  is_first_sync boolean NOT NULL,
  destination text NOT NULL DEFAULT '',
  value text NOT NULL,
  -- The value that was sent last.
  before text NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX compute_outbox_profile ON compute_outbox (profile_key, definition);
CREATE INDEX compute_outbox_order ON compute_outbox (is_first_sync, send_at);

CREATE OR REPLACE FUNCTION make_record_partition(parent text, first_day date, end_day date) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
  name text := parent || '_' || to_char(first_day, 'YYYYMMDD');
BEGIN
  IF parent NOT IN ('deliveries', 'attempts', 'delivery_counts', 'membership_changes') THEN
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
  IF parent NOT IN ('deliveries', 'attempts', 'delivery_counts', 'membership_changes') THEN
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
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['definitions', 'definition_versions', 'definition_syncs', 'compute_workspaces', 'compute_starts',
    'workspace_starts', 'membership_sizes', 'membership_curve', 'profile_counts']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY own_workspace ON %I USING (is_visible(workspace_id)) WITH CHECK (is_visible(workspace_id))', name);
  END LOOP;
  -- The subqueries run once a statement and not once a row.
  FOREACH name IN ARRAY ARRAY['profiles', 'memberships', 'membership_changes', 'compute_outbox', 'profile_timers', 'profile_claims']
  LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY own_workspace ON %I USING (
      (SELECT current_setting(''millrace.system'', true) = ''on'')
      OR profile_key BETWEEN (SELECT first_profile_key()) AND (SELECT last_profile_key()))', name);
  END LOOP;
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_app') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON definitions, definition_versions, definition_syncs, compute_version, compute_positions,
      compute_workspaces, compute_starts, workspace_starts, profiles, profile_claims, profile_timers, memberships, membership_sizes,
      membership_curve, profile_counts, membership_changes, compute_outbox TO millrace_app;
  END IF;
END $$;
