import type { DestinationOf, SourceRow } from './source-rows.ts';
import { Link } from '@tanstack/react-router';
import { count } from '../../format/numbers.ts';
import { StateText } from '../../parts/state-mark.tsx';
import { IdText, OuterLink, TimeText } from '../../parts/texts.tsx';

export function SourceTable({ rows }: { rows: readonly SourceRow[] }) {
  return (
    <div className="tablewrap">
      <table className="folds">
        <thead>
          <tr>
            <th>Source</th>
            <th>State</th>
            <th title="Millrace notes the use of a write key about once a minute">Last call</th>
            <th>Connected destinations</th>
            <th className="num">Calls this month</th>
            <th className="num">Refused, 7 days</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.source.id} row={row} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ row: { source, lastCallAt, calls, refused, refusedAs, destinations } }: { row: SourceRow }) {
  const { id, name, enabled, projection } = source;
  return (
    <tr>
      <td>
        <b>
          <OuterLink to="/sources/$id" params={{ id }} text={name} most={60} />
        </b>
        <span className="sub m-hide">
          <IdText id={id} />
        </span>
      </td>
      <td>
        {enabled ? <StateText state="delivered">Enabled</StateText> : <StateText state="paused">Disabled</StateText>}
        {projection.state === 'failed' && <span className="sub">change not in effect yet</span>}
      </td>
      <td data-label="last call">
        {lastCallAt === undefined ? <span className="dim">none yet</span> : <TimeText at={lastCallAt} withDistance />}
      </td>
      <td className="m-hide">
        <Connected sourceId={id} destinations={destinations} />
      </td>
      <td className="num" data-label="calls this month">
        {calls === undefined ? <span className="dim">–</span> : count(calls)}
      </td>
      <td className="num" data-label="refused">
        {refused === undefined && <span className="dim">–</span>}
        {refused === 0 && <span className="dim">0</span>}
        {refused !== undefined && refused > 0 && (
          <>
            <Link to="/sources/$id/settings" params={{ id }} hash="refusals" className="plain">
              <StateText state="refused">{count(refused)}</StateText>
            </Link>
            <code className="sub m-hide">{refusedAs}</code>
          </>
        )}
      </td>
    </tr>
  );
}

const MOST_NAMES = 2;

type ConnectedProps = { sourceId: string; destinations: readonly DestinationOf[] | undefined };

function Connected({ sourceId, destinations }: ConnectedProps) {
  if (destinations === undefined) return <span className="dim">–</span>;
  if (destinations.length === 0) {
    return (
      <span className="dim">
        none: its events are stored only.{' '}
        <Link to="/destinations/new" search={{ sourceId }}>
          Add one
        </Link>
      </span>
    );
  }
  const more = destinations.length - MOST_NAMES;
  return (
    <>
      {destinations.slice(0, MOST_NAMES).map(({ id, name }, place) => (
        <span key={id}>
          {place > 0 && ', '}
          <OuterLink to="/destinations/$id" params={{ id }} text={name} most={32} />
        </span>
      ))}
      {more > 0 && (
        <Link to="/sources/$id/settings" params={{ id: sourceId }} hash="destinations" className="dim">
          {' '}
          and {count(more)} more
        </Link>
      )}
    </>
  );
}
