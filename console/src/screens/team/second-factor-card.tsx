import type { Member, Workspace } from '@millrace/contract/control';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { reading, useChange } from '../../api/queries.ts';
import { useMay, useSession } from '../../api/session.tsx';
import { counted } from '../../format/numbers.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Confirm } from '../../parts/dialog.tsx';

/** Whether the workspace demands a second factor of its members. */
export function SecondFactorCard({ members }: { members: readonly Member[] }) {
  const { user } = useSession();
  const mayWrite = useMay('members:write');
  const { data } = useQuery(reading<Workspace>('/workspace'));
  if (data === undefined) return null;
  const without = members.filter(({ hasSecondFactor }) => !hasSecondFactor).length;
  const isNeeded = data.needsSecondFactor;
  return (
    <Card title="Second factor" aside={isNeeded ? 'demanded' : 'not demanded'}>
      <div className="pad stack">
        <p>
          {isNeeded
            ? 'Members need a second factor to see this workspace.'
            : 'Members may sign in with a password alone.'}{' '}
          {without === 0 ? 'All members have one.' : `${counted(without, 'member has', 'members have')} none.`} API
          tokens need none.
        </p>
        {mayWrite && user.hasSecondFactor && <DemandButton isNeeded={isNeeded} without={without} />}
        {mayWrite && !user.hasSecondFactor && (
          <p className="small dim">
            To demand it of others, add one to your own account first: <Link to="/profile">Profile</Link>.
          </p>
        )}
      </div>
    </Card>
  );
}

function DemandButton({ isNeeded, without }: { isNeeded: boolean; without: number }) {
  const client = useQueryClient();
  const [isOpen, setIsOpen] = useState(false);
  const change = useChange({
    method: 'PATCH',
    path: '/workspace/second-factor',
    body: () => ({ isNeeded: !isNeeded }),
    renews: ['/workspace'],
  });
  const confirm = () =>
    change.mutate(undefined, {
      onSuccess: () => {
        void client.invalidateQueries({ queryKey: ['me'] });
        setIsOpen(false);
      },
    });
  const verb = isNeeded ? 'No longer demand it' : 'Demand a second factor';
  return (
    <div>
      <Button onClick={() => setIsOpen(true)}>{verb}</Button>
      <Confirm
        title={isNeeded ? 'No longer demand a second factor?' : 'Demand a second factor of every member?'}
        verb={verb}
        keep="Cancel"
        isOpen={isOpen}
        close={() => setIsOpen(false)}
        isBusy={change.isPending}
        error={change.error}
        confirm={confirm}
      >
        <p>
          {isNeeded
            ? 'Members then see this workspace with their password alone.'
            : `${counted(without, 'member has', 'members have')} none: they reach only their own profile until they add one, from their next click on. API tokens go on working.`}
        </p>
      </Confirm>
    </div>
  );
}
