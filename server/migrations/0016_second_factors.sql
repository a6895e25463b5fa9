-- least version: 0.1.0
-- Seeds of authenticator apps (RFC 6238), sealed with the key ring. A seed counts from its first right code on; until then it belongs to the
-- session that enrols it, and the seed before it stays in force.
CREATE TABLE totp_seeds (
  id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  seed_sealed bytea NOT NULL,
  session_id text REFERENCES sessions ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  confirmed_at timestamptz,
  -- The latest time step whose code was used: codes of this step and of earlier ones are refused.
  last_step bigint NOT NULL DEFAULT 0,
  last_used_at timestamptz,
  CHECK ((confirmed_at IS NULL) = (session_id IS NOT NULL))
);
CREATE UNIQUE INDEX totp_seeds_user ON totp_seeds (user_id) WHERE confirmed_at IS NOT NULL;
CREATE UNIQUE INDEX totp_seeds_session ON totp_seeds (session_id) WHERE confirmed_at IS NULL;

-- Recovery codes that are not used yet, as hashes. A use deletes its row.
CREATE TABLE recovery_codes (
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  code_hash bytea NOT NULL,
  PRIMARY KEY (user_id, code_hash)
);

CREATE TABLE passkeys (
  id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  -- As the authenticator names it, in base64url.
  credential_id text NOT NULL UNIQUE,
  public_key bytea NOT NULL,
  -- The signature counter of the last use. Many authenticators do not count and send 0 each time.
  counter bigint NOT NULL,
  transports text[] NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz
);
CREATE INDEX passkeys_user ON passkeys (user_id);

-- What a passkey is to sign for a session: to be added, or to confirm the person. Each works once.
CREATE TABLE passkey_challenges (
  session_id text NOT NULL REFERENCES sessions ON DELETE CASCADE,
  purpose text NOT NULL CHECK (purpose IN ('add', 'confirm')),
  challenge text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (session_id, purpose)
);

-- Sign-ins between the password and the second factor, and those by a passkey alone that were tried. The ticket itself is a sealed cookie.
CREATE TABLE sign_in_tickets (
  id text PRIMARY KEY,
  user_id text NOT NULL REFERENCES users ON DELETE CASCADE,
  -- Tries that have begun, over all processes.
  tries integer NOT NULL,
  -- A challenge for a passkey works once, whatever came of it.
  passkey_tried boolean NOT NULL,
  is_used boolean NOT NULL DEFAULT false,
  expires_at timestamptz NOT NULL
);
CREATE INDEX sign_in_tickets_user ON sign_in_tickets (user_id);
CREATE INDEX sign_in_tickets_expires ON sign_in_tickets (expires_at);

-- Wrong codes of authenticator apps in the last day, for all processes together.
CREATE TABLE code_failures (
  user_id text PRIMARY KEY REFERENCES users ON DELETE CASCADE,
  failures integer NOT NULL,
  since timestamptz NOT NULL
);

-- Until then the session may change the ways to sign in: its person has given the password and a factor again.
ALTER TABLE sessions ADD COLUMN confirmed_until timestamptz;
-- Members without a second factor reach only their own account.
ALTER TABLE workspaces ADD COLUMN needs_second_factor boolean NOT NULL DEFAULT false;

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'millrace_app') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON totp_seeds, recovery_codes, passkeys, passkey_challenges, sign_in_tickets, code_failures
      TO millrace_app;
  END IF;
END $$;
