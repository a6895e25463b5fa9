-- least version: 0.1.0
-- Mails that control has to send. The content (address, subject, text with its link) is sealed with the key ring, and is removed as soon as the
-- mail is sent or given up. A mail of no workspace has the empty id.
CREATE TABLE mails (
  workspace_id text NOT NULL,
  id text NOT NULL,
  kind text NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'sent', 'dead')),
  content_sealed bytea,
  -- Attempts that have begun.
  attempts integer NOT NULL DEFAULT 0,
  -- Also the lease: a process that sends the mail moves it ahead first.
  next_at timestamptz NOT NULL DEFAULT now(),
  -- The end of the link in it; a later mail would be of no use.
  expires_at timestamptz NOT NULL,
  -- A code of the last failure; never a text of the mail server, which may repeat the address.
  last_error text,
  created_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX mails_due ON mails (next_at) WHERE state = 'waiting';
CREATE INDEX mails_ended ON mails (ended_at) WHERE state <> 'waiting';
ALTER TABLE mails ENABLE ROW LEVEL SECURITY;
ALTER TABLE mails FORCE ROW LEVEL SECURITY;
CREATE POLICY own_workspace ON mails USING (is_visible(workspace_id)) WITH CHECK (is_visible(workspace_id));

-- One-use links to a new password, or to a new address of an account. Only the hash of the link's secret is kept.
CREATE TABLE account_links (
  secret_hash bytea PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('password', 'email')),
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  new_email text,
  -- A user, a token, `operator`, or `visitor` for a link that was asked for without a session and went out by mail.
  created_by text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  CHECK ((kind = 'email') = (new_email IS NOT NULL))
);
CREATE INDEX account_links_user ON account_links (user_id, created_at);

-- Since when a user is in no workspace; control removes the account a day later.
ALTER TABLE users ADD COLUMN memberless_since timestamptz;

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_app') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON mails, account_links TO millrace_app;
  END IF;
END $$;
