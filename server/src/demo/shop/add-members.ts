import type { Member } from '@millrace/contract/control';
import { type Ask, signIn } from './shop-api.ts';

export type NewMember = { name: string; email: string; role: Member['role']; password: string };

/** Invites those who are not members yet, and accepts for them, as people do in the console. */
export async function addMembers(controlUrl: string, ask: Ask, members: readonly NewMember[]): Promise<void> {
  const { items } = await ask<{ items: Member[] }>('GET', '/members');
  for (const { name, email, role, password } of members) {
    if (items.some((member) => member.email === email)) continue;
    const { token } = await ask<{ token: string }>('POST', '/invitations', { email, role });
    const session = await signIn(controlUrl, '/invitations/accept', { token, name, password });
    await session?.signOut();
  }
}
