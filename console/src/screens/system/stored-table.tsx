import type { System } from '@millrace/contract/control';
import { bytes, count, percent } from '../../format/numbers.ts';
import { Card } from '../../parts/card.tsx';
import { StateText } from '../../parts/state-mark.tsx';
import styles from './system.module.css';
import { FULL } from './tell-system.ts';

type Stored = NonNullable<System['nats']['streams']>[number];

/** The use of each stream, for operators who did not write it. */
const USES: Record<string, string> = {
  EVENTS: 'accepted events',
  LANES: 'deliveries that wait',
  DEAD: 'dead letters, for 14 days',
  OUTCOMES: 'outcomes of deliveries, until they are in PostgreSQL',
  QUARANTINE: 'messages that no role could process, for 30 days',
  TICKETS: 'one scheduled message for each lane with a backlog',
  AUDIT: 'anchors of the audit log',
  config: 'sources and destinations as collect and deliver use them',
  health: 'the state of lanes in trouble',
  worked: 'the receivers that worked in the last day',
  layout: 'the number of lane streams that each process uses',
};

export function StoredTable({ title, stored }: { title: string; stored: readonly Stored[] }) {
  return (
    <Card title={title} aside={count(stored.length)}>
      <table className="folds">
        <thead>
          <tr>
            <th>Name</th>
            <th className="num">Messages</th>
            <th className="num">Size</th>
            <th>Fill</th>
            <th>Leader</th>
            <th>Replicas</th>
          </tr>
        </thead>
        <tbody>
          {stored.map((one) => (
            <Row one={one} key={one.name} />
          ))}
        </tbody>
      </table>
    </Card>
  );
}

function Row({ one }: { one: Stored }) {
  const { name, messages, bytes: size, maxBytes, leader, replicas, laggingReplicas } = one;
  return (
    <tr>
      <td>
        <span className="mono">{name}</span>
        <span className="sub">{USES[name.replace(/-\d+$/, '')] ?? ''}</span>
      </td>
      <td className="num" data-label="Messages">
        {count(messages)}
      </td>
      <td className="num nowrap" data-label="Size">
        {bytes(size)}
        <span className="sub">{maxBytes === null ? 'no limit' : `of ${bytes(maxBytes)}`}</span>
      </td>
      <td>
        <Fill one={one} />
      </td>
      <td data-label="Leader">
        {leader === null ? <StateText state="givenup">none now</StateText> : <span className="mono">{leader}</span>}
      </td>
      <td data-label="Replicas">
        {replicas}
        {laggingReplicas > 0 && (
          <span className="sub">
            <StateText state="retrying">{laggingReplicas} lag</StateText>
          </span>
        )}
      </td>
    </tr>
  );
}

function Fill({ one: { fill, name } }: { one: Stored }) {
  if (fill === null) return <span className="dim">no limit</span>;
  const isFull = fill >= FULL;
  return (
    <span className={`${styles['fill']} ${isFull ? 'givenup' : ''}`}>
      <span className="meter block" role="img" aria-label={`${name} is ${percent(fill)} % full`}>
        <i style={{ width: `${Math.min(fill * 100, 100)}%` }} />
      </span>
      {isFull ? <StateText state="givenup">{percent(fill)} %</StateText> : `${percent(fill)} %`}
    </span>
  );
}
