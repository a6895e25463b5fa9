-- least version: 0.1.0
-- Calls that Millrace makes itself, of audiences and computed traits, come from a source of their own: one in a workspace, without
-- write keys. A version without this column shows it as a source that never got a key.
ALTER TABLE sources ADD COLUMN kind text NOT NULL DEFAULT 'collected' CHECK (kind IN ('collected', 'computed'));
CREATE UNIQUE INDEX sources_computed ON sources (workspace_id) WHERE kind = 'computed';
