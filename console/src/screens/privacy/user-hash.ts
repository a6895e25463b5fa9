/** The hash by which Millrace remembers an erased user: SHA-256 of the workspace and the user id. */
export async function userHash(workspaceId: string, userId: string): Promise<string | undefined> {
  // Browsers have no `subtle` on pages without TLS.
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined;
  if (subtle === undefined) return undefined;
  const digest = await subtle.digest('SHA-256', new TextEncoder().encode(`${workspaceId}\n${userId}`));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
