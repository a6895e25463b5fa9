/** Whether the name servers of a domain name a workspace: only then are people led from their address to its provider. */
export function recordOf(domain: string, workspaceId: string): { name: string; value: string } {
  return { name: `_millrace.${domain}`, value: `workspace=${workspaceId}` };
}
