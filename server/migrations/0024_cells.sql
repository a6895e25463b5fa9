-- least version: 0.1.0
-- Cells: what one NATS cluster carries. Control writes this table from its settings; `main` is always there.
-- seen_at: when a control process last had the cell in its settings.
CREATE TABLE cells (
  name text PRIMARY KEY CHECK (name ~ '^[a-z][a-z0-9-]{0,31}$'),
  -- Takes the calls of this cell's sources while the cell is away.
  spare text CHECK (spare <> name),
  seen_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO cells (name) VALUES ('main');

-- The cells in which a source may still have requests, beside its own and the spare of that.
ALTER TABLE sources ADD COLUMN cell text NOT NULL DEFAULT 'main' REFERENCES cells;
ALTER TABLE sources ADD COLUMN former_cells text[] NOT NULL DEFAULT '{}';

-- The cell that the source is on its way to: collect stores there when the bucket of that cell has the source and its destinations.
-- A new source is on its way to its own cell, and no cell takes its requests before.
ALTER TABLE sources ADD COLUMN next_cell text REFERENCES cells;
CREATE INDEX sources_on_their_way ON sources (next_cell) WHERE next_cell IS NOT NULL;

-- Each cell has a config bucket, and a projector that takes the rows of its cell.
ALTER TABLE outbox ADD COLUMN cell text NOT NULL DEFAULT 'main';
DROP INDEX outbox_order;
CREATE INDEX outbox_order ON outbox (cell, is_repair, id);
-- Each bucket refuses for itself.
ALTER TABLE projection_failures ADD COLUMN cell text NOT NULL DEFAULT 'main';
ALTER TABLE projection_failures DROP CONSTRAINT projection_failures_pkey;
ALTER TABLE projection_failures ADD PRIMARY KEY (kind, object_id, cell);

-- A change becomes one row for each cell in the order of the statement; repairs name their cell themselves.
CREATE FUNCTION tell_other_cells() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO outbox (workspace_id, kind, object_id, cell)
    SELECT n.workspace_id, n.kind, n.object_id, c.name FROM new_rows n CROSS JOIN cells c
      WHERE n.cell = 'main' AND NOT n.is_repair AND c.name <> 'main' ORDER BY n.id;
  RETURN NULL;
END $$;
CREATE TRIGGER tell_other_cells AFTER INSERT ON outbox REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION tell_other_cells();

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_app') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON cells TO millrace_app;
  END IF;
END $$;
