-- least version: 0.1.0
-- The counter of usage knows a stream again that was deleted and made again, or restored, by the message at its position: `place` has the
-- creation time of the stream, and the sequence and time of that message. A place with another sequence is of no use: an older process
-- has moved the position since.
ALTER TABLE usage_positions ADD COLUMN place jsonb;
