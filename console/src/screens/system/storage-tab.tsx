import type { System } from '@millrace/contract/control';
import { bytes, count, milliseconds } from '../../format/numbers.ts';
import { Card, Facts } from '../../parts/card.tsx';
import { Note } from '../../parts/note.tsx';
import { IdText, TimeText } from '../../parts/texts.tsx';
import { StoredTable } from './stored-table.tsx';

const STATES: Record<string, string> = {
  failing: 'failing',
  asked_to_wait: 'asked to wait',
  paused: 'paused',
  waiting: 'waiting for a retry',
  draining: 'draining',
};

export function StorageTab({ system }: { system: System }) {
  const { nats } = system;
  return (
    <div className="cols">
      <div className="stack">
        {!nats.isReachable && (
          <Note state="givenup" title="NATS does not answer control.">
            Streams and buckets cannot be shown. Look at the NATS servers and the network between them and control.
          </Note>
        )}
        {nats.streams !== null && <StoredTable title="Streams" stored={nats.streams} />}
        {nats.buckets !== null && <StoredTable title="Buckets" stored={nats.buckets} />}
      </div>
      <Side system={system} />
    </div>
  );
}

function Side({ system }: { system: System }) {
  const { versions, process, lanes, postgres } = system;
  return (
    <div className="stack">
      <Card title="Lanes" aside="of all workspaces">
        <div className="pad">
          <Facts
            facts={[
              ['In use', count(lanes.inUse)],
              ['Deliveries', count(lanes.deliveries)],
              ['Size', bytes(lanes.bytes)],
              ...Object.entries(lanes.byState).map(([state, lane]) => [STATES[state] ?? state, count(lane)] as const),
            ]}
          />
        </div>
      </Card>
      <Processes system={system} />
      <Card title="PostgreSQL">
        <div className="pad">
          <Facts
            facts={[
              ['Answers', postgres.isReachable ? `in ${milliseconds(postgres.answeredInMs)}` : 'no'],
              ['Size', bytes(postgres.bytes)],
              ['Version', versions.postgres],
            ]}
          />
        </div>
      </Card>
      <Card title="This control process">
        <div className="pad">
          <Facts
            facts={[
              ['Roles', process.roles.join(', ')],
              ['Started', <TimeText key="at" at={process.startedAt} withDistance />],
              ['Millrace', versions.millrace],
              ['Node.js', versions.node],
              ['NATS', versions.nats ?? 'not known'],
            ]}
          />
        </div>
      </Card>
    </div>
  );
}

function Processes({ system: { deliverProcesses } }: { system: System }) {
  return (
    <Card title="Deliver processes" aside={deliverProcesses === null ? undefined : count(deliverProcesses.length)}>
      <div className="pad">
        {deliverProcesses === null && <p className="soft">The NATS user of control may not listen to them.</p>}
        {deliverProcesses?.length === 0 && (
          <Note state="givenup" title="None is alive.">
            Events are kept in the streams. Start a process with the role deliver.
          </Note>
        )}
        <ul>
          {deliverProcesses?.map(({ id, version }) => (
            <li key={id}>
              <IdText id={id} /> <span className="dim">version {version ?? 'not known'}</span>
            </li>
          ))}
        </ul>
      </div>
    </Card>
  );
}
