#!/bin/sh
# PostgreSQL runs this once, when its volume is empty: two logins, as docs/run/postgresql.md explains. One owns the tables and migrates;
# the other serves, owns nothing and is subject to row-level security.
set -eu
export SECRETS_DIR="${SECRETS_DIR:-/run/secrets}"
for name in postgres_owner_password postgres_service_password; do
  [ -s "$SECRETS_DIR/$name" ] || { echo "create-logins.sh: $SECRETS_DIR/$name is missing or empty" >&2 && exit 1; }
done

# psql reads the passwords itself: every user of the machine can read the arguments of a process.
psql --no-psqlrc --quiet --username "$POSTGRES_USER" --dbname postgres --set ON_ERROR_STOP=1 <<'SQL'
\set owner `cat "$SECRETS_DIR/postgres_owner_password"`
\set service `cat "$SECRETS_DIR/postgres_service_password"`
CREATE ROLE millrace_app NOLOGIN;
CREATE ROLE millrace_owner LOGIN PASSWORD :'owner';
CREATE ROLE millrace LOGIN PASSWORD :'service' IN ROLE millrace_app;
CREATE DATABASE millrace OWNER millrace_owner;
REVOKE ALL ON DATABASE millrace FROM PUBLIC;
-- The service works as millrace_app, which asks for the size of the database.
GRANT CONNECT ON DATABASE millrace TO millrace, millrace_app;
SQL
