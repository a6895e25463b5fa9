-- least version: 0.1.0
-- A paused destination is sent nothing, and what comes waits for it. What waited has its whole window from resumed_at on.
ALTER TABLE destinations
  ADD COLUMN paused_at timestamptz,
  ADD COLUMN resumed_at timestamptz;
