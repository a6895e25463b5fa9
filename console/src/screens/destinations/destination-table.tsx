import type { Source } from '@millrace/contract/control';
import { count, milliseconds } from '../../format/numbers.ts';
import { OuterLink, TimeText, UrlText } from '../../parts/texts.tsx';
import { StateText } from '../../parts/state-mark.tsx';
import { targetsOf } from '../../parts/destination/health/destination-facts.ts';
import styles from './destinations.module.css';
import { DayBars } from './day-bars.tsx';
import type { Standing } from './standings.ts';

type DestinationTableProps = { standings: readonly Standing[]; sources: readonly Source[] };

export function DestinationTable({ standings, sources }: DestinationTableProps) {
  const names = new Map(sources.map(({ id, name }) => [id, name]));
  return (
    <table className={styles['table']}>
      <thead>
        <tr>
          <th>Destination</th>
          <th>State</th>
          <th>Source</th>
          <th>24 hours</th>
          <th className="num">p95</th>
          <th className="num">Waiting</th>
          <th className="num">Next retry</th>
        </tr>
      </thead>
      <tbody>
        {standings.map((standing) => (
          <Row
            key={standing.destination.id}
            standing={standing}
            rows={standings.length}
            source={names.get(standing.destination.sourceId) ?? standing.destination.sourceId}
          />
        ))}
      </tbody>
    </table>
  );
}

function Row({ standing, rows, source }: { standing: Standing; rows: number; source: string }) {
  const { destination, health, told } = standing;
  const { id, name, sourceId } = destination;
  const [first, ...others] = targetsOf(destination);
  const lane = health?.lane ?? null;
  const p95 = health?.latencyMs.p95 ?? null;
  return (
    <tr>
      <td>
        <b>
          <OuterLink className="plain" text={name} most={48} to="/destinations/$id" params={{ id }} />
        </b>
        <span className="sub">
          {first !== undefined && <UrlText url={first.url} most={44} />}
          {others.length > 0 && ` and ${others.length} more`}
        </span>
      </td>
      <td>
        {told === undefined ? (
          <span className="dim">…</span>
        ) : (
          <>
            <StateText state={told.state}>{told.word}</StateText>
            {lane !== null && (told.state === 'givenup' || told.state === 'paused') && (
              <span className="sub">
                since <TimeText at={lane.since} />
              </span>
            )}
          </>
        )}
      </td>
      <td>
        <OuterLink className="plain" text={source} most={28} to="/sources/$id" params={{ id: sourceId }} />
      </td>
      <td>
        <DayBars destinationId={id} rows={rows} />
      </td>
      <td className="num nowrap">{p95 === null ? <span className="dim">–</span> : milliseconds(p95)}</td>
      <td className="num">{lane === null || lane.depth === 0 ? <span className="dim">0</span> : count(lane.depth)}</td>
      <td className="num nowrap">
        {lane === null || lane.nextAt === null || lane.state === 'paused' ? (
          <span className="dim">–</span>
        ) : (
          <TimeText at={lane.nextAt} />
        )}
      </td>
    </tr>
  );
}
