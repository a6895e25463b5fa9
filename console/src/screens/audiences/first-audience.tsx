import type { ReactNode } from 'react';
import { Empty } from '../../parts/list-states.tsx';
import { Code } from '../../parts/code.tsx';

const EXAMPLE = `{
  "type": "identify",
  "userId": "u_48213",
  "traits": { "big_spenders_30_days": true }
}`;

/** What an audience is, with an example and with what a destination gets. */
export function FirstAudience({ action }: { action: ReactNode }) {
  return (
    <>
      <Empty title="No audience yet" action={action}>
        An audience is everybody for whom a condition holds, such as “spent 500 or more in the last 30 days, and asked
        for no refund in 7”. Millrace knows within a second who enters and who leaves, can say why, and tells your
        destinations. A computed trait is a value for each user, such as the number of their orders.
      </Empty>
      <div className="pad">
        <p className="small dim">A destination gets this when a user enters, and false when the user leaves:</p>
        <Code text={EXAMPLE} label="identify call" />
      </div>
    </>
  );
}
