import type { AcceptedEvent } from '@millrace/contract';
import { isPlaceholderId } from '@millrace/contract/audiences';

/** The rules of identity as they are written, over names such as `user u1`. */
export type OracleIdentities = {
  /** The profile of the event, and the profiles that become part of it, in order. */
  resolve(event: AcceptedEvent): { owner: string | undefined; merged: string[] };
};

export function openOracleIdentities(): OracleIdentities {
  /** Of an anonymous id: the user, or `shared`. */
  const devices = new Map<string, string>();
  /** Of a user who was aliased: the user that they are now. */
  const aliases = new Map<string, string>();

  const personOf = (user: string): string => {
    const other = aliases.get(user);
    return other === undefined ? user : personOf(other);
  };

  function see(device: string, person: string, merged: string[]): void {
    const before = devices.get(device);
    if (before === undefined) {
      devices.set(device, person);
      merged.push(`anonymous ${device}`);
    } else if (before !== 'shared' && personOf(before) !== person) devices.set(device, 'shared');
  }

  return {
    resolve(event) {
      const [userId, anonymousId] = [event.userId, event.anonymousId].map((id) =>
        id === undefined || isPlaceholderId(id) ? undefined : id,
      );
      if (userId === undefined) {
        if (anonymousId === undefined) return { owner: undefined, merged: [] };
        const device = devices.get(anonymousId);
        if (device === undefined) return { owner: `anonymous ${anonymousId}`, merged: [] };
        return { owner: device === 'shared' ? undefined : `user ${personOf(device)}`, merged: [] };
      }
      const merged: string[] = [];
      const person = personOf(userId);
      const previousId = event.type === 'alias' && !isPlaceholderId(event.previousId) ? event.previousId : undefined;
      if (previousId !== undefined && !aliases.has(previousId) && previousId !== person && previousId !== userId) {
        aliases.set(previousId, person);
        merged.push(`user ${previousId}`);
      }
      if (anonymousId !== undefined) see(anonymousId, person, merged);
      if (previousId !== undefined) see(previousId, person, merged);
      return { owner: `user ${person}`, merged };
    },
  };
}
