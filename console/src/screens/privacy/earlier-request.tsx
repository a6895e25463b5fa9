import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useSession } from '../../api/session.tsx';
import { Note } from '../../parts/note.tsx';
import { TimeText } from '../../parts/texts.tsx';
import type { Deletion } from '../../parts/job/receipt.ts';
import { userHash } from './user-hash.ts';

export function useUserHash(userId: string) {
  const { workspace } = useSession();
  return useQuery({
    queryKey: [workspace.id, 'hash of a user', userId],
    queryFn: async () => (await userHash(workspace.id, userId)) ?? '',
    enabled: userId !== '',
    staleTime: Infinity,
  });
}

/** Millrace keeps no ids of erased users: the browser computes the hash of this one and compares. */
export function EarlierRequest({ userId, requests }: { userId: string; requests: readonly Deletion[] }) {
  const { data: hash = '' } = useUserHash(userId);
  const earlier = requests.find(({ userHashes }) => hash !== '' && userHashes.includes(hash));
  if (earlier === undefined) return null;
  return (
    <Note state="waiting" title="This user was erased before.">
      The request of <TimeText at={earlier.createdAt} /> covers events received before it
      {earlier.suppress ? ', and suppresses later calls' : ''}.{' '}
      <Link to="/privacy/$id" params={{ id: earlier.id }}>
        Open it
      </Link>
    </Note>
  );
}
