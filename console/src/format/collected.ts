/** Sources that clients send calls to: without the one whose calls Millrace makes itself, for audiences and computed traits. */
export function collected<Known extends { kind: 'collected' | 'computed' }>(sources: readonly Known[]): Known[] {
  return sources.filter(({ kind }) => kind === 'collected');
}
