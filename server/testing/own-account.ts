/** For the matrix of permissions: endpoints of a person's own account, which no token reaches. */
export const OWN_ACCOUNT_ROUTES: readonly string[] = [
  'POST /api/v1/me/confirm',
  'POST /api/v1/me/confirm/options',
  'POST /api/v1/me/email',
  'POST /api/v1/me/email/confirm',
  'GET /api/v1/me/factors',
  'POST /api/v1/me/passkeys',
  'PATCH /api/v1/me/passkeys/:id',
  'DELETE /api/v1/me/passkeys/:id',
  'POST /api/v1/me/passkeys/options',
  'POST /api/v1/me/password',
  'POST /api/v1/me/recovery-codes',
  'POST /api/v1/me/totp',
  'DELETE /api/v1/me/totp',
  'POST /api/v1/me/totp/confirm',
  'POST /api/v1/me/workspaces',
  'DELETE /api/v1/me/workspaces/:id',
  'DELETE /api/v1/session',
  'GET /api/v1/sessions',
  'DELETE /api/v1/sessions/:id',
  'POST /api/v1/sessions/revoke-others',
  'POST /api/v1/workspaces',
];

/** Has the form of an answer of a passkey, and proves nothing. */
export const UNSIGNED = {
  id: 'AA',
  rawId: 'AA',
  type: 'public-key',
  clientExtensionResults: {},
  response: { clientDataJSON: 'AA', authenticatorData: 'AA', signature: 'AA' },
};
