-- least version: 0.1.0
-- The role `viewer-without-payloads`.
ALTER TABLE members DROP CONSTRAINT members_role_check;
ALTER TABLE members ADD CONSTRAINT members_role_check
  CHECK (role IN ('owner', 'admin', 'developer', 'viewer', 'viewer-without-payloads'));
ALTER TABLE tokens DROP CONSTRAINT tokens_role_check;
ALTER TABLE tokens ADD CONSTRAINT tokens_role_check
  CHECK (role IN ('owner', 'admin', 'developer', 'viewer', 'viewer-without-payloads'));
ALTER TABLE invitations DROP CONSTRAINT invitations_role_check;
ALTER TABLE invitations ADD CONSTRAINT invitations_role_check
  CHECK (role IN ('owner', 'admin', 'developer', 'viewer', 'viewer-without-payloads'));

-- Tokens with scopes were made before this permission. It opens nothing by itself, so they keep exactly the rights that they have.
UPDATE tokens SET scopes = array_append(scopes, 'payloads:read') WHERE scopes IS NOT NULL AND NOT 'payloads:read' = ANY (scopes);
