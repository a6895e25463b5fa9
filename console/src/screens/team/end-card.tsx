import type { Workspace } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { reading } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { Card } from '../../parts/card.tsx';
import { EndWorkspace } from '../../parts/end-workspace.tsx';

/** For owners: the end of the workspace, and the way back. */
export function EndCard() {
  const may = useMay('workspace:write');
  const read = useQuery(reading<Workspace>('/workspace', { enabled: may }));
  if (!may || read.data === undefined) return null;
  return (
    <Card title="End of the workspace" aside="can be undone for a while">
      <div className="pad">
        <EndWorkspace workspace={read.data} path="/workspace/deletion" renews={['/workspace', '/sources']} />
      </div>
    </Card>
  );
}
