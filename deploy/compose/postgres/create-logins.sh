#!/bin/sh
# PostgreSQL runs this once, when its volume is empty: two logins, as docs/run/postgresql.md explains. One owns the tables and migrates;
# the other serves, owns nothing and is subject to row-level security.
set -eu
secrets=${SECRETS_DIR:-/run/secrets}

psql --no-psqlrc --quiet --username "$POSTGRES_USER" --dbname postgres --set ON_ERROR_STOP=1 \
  --set owner="$(cat "$secrets/postgres_owner_password")" --set service="$(cat "$secrets/postgres_service_password")" <<'SQL'
CREATE ROLE millrace_app NOLOGIN;
CREATE ROLE millrace_owner LOGIN PASSWORD :'owner';
CREATE ROLE millrace LOGIN PASSWORD :'service' IN ROLE millrace_app;
CREATE DATABASE millrace OWNER millrace_owner;
REVOKE ALL ON DATABASE millrace FROM PUBLIC;
-- The service works as millrace_app, which asks for the size of the database.
GRANT CONNECT ON DATABASE millrace TO millrace, millrace_app;
SQL
