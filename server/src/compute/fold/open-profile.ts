import type { StoredProfile } from '../profiles/profile-store.ts';
import { decodeState, encodeState } from '../state/profile-state.ts';
import type { OpenProfile } from './evaluate.ts';

export function openProfile({ key, workspaceId, kind, id, state, dueAt }: StoredProfile): OpenProfile {
  return { key, workspaceId, kind, id, state: decodeState(state), dueAt };
}

export function closeProfile({ key, workspaceId, kind, id, state, dueAt }: OpenProfile): StoredProfile {
  return { key, workspaceId, kind, id, state: encodeState(state), dueAt };
}
