-- least version: 0.1.0
-- The user or token that paused a destination, with the time of that pause: a version without this column may pause it anew.
ALTER TABLE destinations ADD COLUMN paused_by jsonb;
