-- least version: 0.1.0
-- Wrong tries to sign in to an account, for all processes together. The account is the SHA-256 of its address: rows also exist for
-- addresses without an account, so that both are refused alike.
CREATE TABLE sign_in_failures (
  account bytea PRIMARY KEY,
  failures integer NOT NULL,
  since timestamptz NOT NULL
);
CREATE INDEX sign_in_failures_since ON sign_in_failures (since);

-- A session stays with the kind of browser that it began in. NULL: of a version before this one, bound at its next use.
ALTER TABLE sessions ADD COLUMN browser text;
-- Where it was last used from; `address` is where it began.
ALTER TABLE sessions ADD COLUMN last_address text;

ALTER TABLE tokens ADD COLUMN last_used_address text;

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_app') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON sign_in_failures TO millrace_app;
  END IF;
END $$;
