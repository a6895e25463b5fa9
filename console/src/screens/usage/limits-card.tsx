import type { Source } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { type Page, reading } from '../../api/queries.ts';
import { collected } from '../../format/collected.ts';
import { counted } from '../../format/numbers.ts';
import { Card } from '../../parts/card.tsx';
import { Empty, ListStates } from '../../parts/list-states.tsx';
import { OuterLink } from '../../parts/texts.tsx';

/** How many calls a second each source may send. Millrace sells nothing: there is no limit by month. */
export function LimitsCard() {
  const sources = useQuery(reading<Page<Source>>('/sources', { query: { limit: 100 } }));
  const items = collected(sources.data?.items ?? []);
  const limited = items.filter(({ rateLimitPerSecond }) => rateLimitPerSecond !== null);
  const others = items.length - limited.length;
  return (
    <Card title="Limits of sources">
      <ListStates
        read={sources}
        failed="The limits cannot be shown."
        isEmpty={items.length === 0}
        empty={<Empty title="No source yet">Each source may have a limit of calls a second.</Empty>}
      >
        <div className="pad">
          <dl className="kv">
            {limited.map(({ id, name, rateLimitPerSecond }) => (
              <div className="fact" key={id}>
                <dt>
                  <OuterLink to="/sources/$id/settings" params={{ id }} text={name} most={28} />
                </dt>
                <dd>{counted(rateLimitPerSecond ?? 0, 'call')} a second</dd>
              </div>
            ))}
          </dl>
          {others > 0 && (
            <p className={limited.length > 0 ? 'mt' : undefined}>
              {counted(others, 'source has', 'sources have')} no limit of {others === 1 ? 'its' : 'their'} own: the
              limit of the installation holds.
            </p>
          )}
          <p className="small dim mt">
            Collect answers 429 above a limit, and clients send the calls again later. A month has no limit. Millrace
            keeps these counts for 400 days unless the installation says otherwise.
          </p>
        </div>
      </ListStates>
    </Card>
  );
}
