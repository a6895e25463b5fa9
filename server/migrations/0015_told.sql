-- least version: 0.1.0
-- Of a definition that never had a destination nobody has to be told anything: its transitions are kept in the history and go to no outbox.
-- It stays true when the last destination is taken out, so that a row that waits then is still coalesced. True for definitions of versions
-- that do not know the column.
ALTER TABLE definitions ADD COLUMN was_told boolean NOT NULL DEFAULT true;
