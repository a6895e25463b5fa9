/** Tells every member that the workspace is about to end: its calls are refused from now on, and the reason is elsewhere. */
import type { Workspace } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { reading } from '../api/queries.ts';
import { TimeText } from '../parts/texts.tsx';

export function Ending() {
  const { endsAt = null } = useQuery(reading<Workspace>('/workspace')).data ?? {};
  if (endsAt === null) return null;
  return (
    <div className="newer" role="status">
      <span>
        <b>
          This workspace is removed on <TimeText at={endsAt} />.
        </b>{' '}
        Until then its sources take no calls and its destinations wait. An owner can undo it under{' '}
        <Link to="/team">Team and audit</Link>.
      </span>
    </div>
  );
}
