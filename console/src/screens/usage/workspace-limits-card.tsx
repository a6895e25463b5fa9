import type { WorkspaceLimits } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { reading } from '../../api/queries.ts';
import { Card } from '../../parts/card.tsx';
import { LimitTable } from '../../parts/limits/limit-table.tsx';
import { tellLimits } from '../../parts/limits/limit-words.ts';
import { LoadingRows } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';

const REFRESH_MS = 30_000;

/** What the workspace may take of the things that all workspaces share. */
export function WorkspaceLimitsCard() {
  const read = useQuery(reading<WorkspaceLimits>('/workspace/limits', { every: REFRESH_MS }));
  return (
    <Card title="Limits of the workspace" aside={read.data && tellLimits(read.data.limits)}>
      {read.error !== null && (
        <ProblemNote error={read.error} what="The limits cannot be shown." retry={() => void read.refetch()} />
      )}
      {read.data === undefined ? (
        read.error === null && <LoadingRows rows={10} />
      ) : (
        <>
          <LimitTable limits={read.data.limits} />
          <p className="pad small dim">
            The operator of this installation can raise each limit: an owner of its first workspace. Above a rate
            Millrace answers 429 and clients send again later; above another limit it refuses the next one and says why.
            “Its share” means that the workspace may take a part of what is free, and has no number.
          </p>
        </>
      )}
    </Card>
  );
}
