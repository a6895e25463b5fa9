import type { Usage } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { useMay } from '../../api/session.tsx';
import { count, percent } from '../../format/numbers.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Empty } from '../../parts/list-states.tsx';
import { IdText, OuterLink } from '../../parts/texts.tsx';
import styles from './usage.module.css';

export function SourcesCard({ usage }: { usage: Static<typeof Usage> }) {
  const mayAdd = useMay('sources:write');
  const sources = usage.sources.toSorted((one, other) => other.calls - one.calls);
  if (sources.length === 0) {
    return (
      <Card title="By source">
        <Empty
          title="No calls in this month"
          action={
            mayAdd && (
              <LinkButton look="ink" to="/sources/new">
                Add a source
              </LinkButton>
            )
          }
        >
          Each source that sent calls is listed here with its share of them, so that you see where the volume comes
          from.
        </Empty>
      </Card>
    );
  }
  return (
    <Card title="By source" aside={count(sources.length)}>
      <table className="folds">
        <thead>
          <tr>
            <th>Source</th>
            <th className="num">Accepted calls</th>
            <th className="num">Share</th>
            <th>
              <span className="sr">Share as a bar</span>
            </th>
            <th className="num">Of these dropped</th>
          </tr>
        </thead>
        <tbody>
          {sources.map(({ sourceId, name, calls, suppressed }) => (
            <tr key={sourceId}>
              <td>
                {name === null ? (
                  <>
                    Deleted source <IdText id={sourceId} />
                  </>
                ) : (
                  <b>
                    <OuterLink to="/sources/$id" params={{ id: sourceId }} text={name} />
                  </b>
                )}
              </td>
              <td className="num" data-label="Accepted">
                {count(calls)}
              </td>
              <td className="num" data-label="Share">
                {usage.calls === 0 ? '0' : percent(calls / usage.calls)} %
              </td>
              <td className={`${styles['share']} m-hide`}>
                <div className="meter" role="img" aria-label="Share as a bar">
                  <i style={{ width: `${usage.calls === 0 ? 0 : (calls / usage.calls) * 100}%` }} />
                </div>
              </td>
              <td className="num" data-label="Dropped">
                {suppressed === 0 ? <span className="dim">0</span> : count(suppressed)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}
