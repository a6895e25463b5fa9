-- least version: 0.1.0
-- What an event has to be to reach a destination: a list of rules, empty for anything.
ALTER TABLE destinations ADD COLUMN filters jsonb NOT NULL DEFAULT '[]';

-- rule: in words, which rule of the filters stopped it. replay_id: the latest replay, or retry of a dead letter, that
-- something happened to it for, and when. is_erased: its user was erased, and whose it was is not kept.
ALTER TABLE deliveries
  ADD COLUMN rule text,
  ADD COLUMN replay_id text,
  ADD COLUMN replayed_at timestamptz,
  ADD COLUMN is_erased boolean NOT NULL DEFAULT false;

ALTER TABLE attempts ADD COLUMN replay_id text;

-- Who asked for it: kind and id, as in the audit log. Unknown for older ones.
ALTER TABLE jobs ADD COLUMN started_by jsonb;
