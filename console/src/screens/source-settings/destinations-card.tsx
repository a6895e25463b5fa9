import { useMay } from '../../api/session.tsx';
import type { Page } from '../../api/queries.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Empty, ListStates } from '../../parts/list-states.tsx';
import { StateText } from '../../parts/state-mark.tsx';
import { IdText, OuterLink } from '../../parts/texts.tsx';
import type { DestinationOf } from './settings-page.tsx';
import styles from './source-settings.module.css';

type DestinationsCardProps = {
  sourceId: string;
  read: { isPending: boolean; error: unknown; data: Page<DestinationOf> | undefined; refetch(): unknown };
};

export function DestinationsCard({ sourceId, read }: DestinationsCardProps) {
  const mayWrite = useMay('destinations:write');
  const add = mayWrite && (
    <LinkButton small to="/destinations/new" search={{ sourceId }}>
      Add a destination
    </LinkButton>
  );
  const items = read.data?.items ?? [];
  return (
    <Card title="Connected destinations" right={items.length > 0 && add}>
      <ListStates
        read={read}
        failed="The destinations cannot be shown."
        isEmpty={items.length === 0}
        empty={
          <Empty title="No destination yet" action={add}>
            Millrace stores the events of this source. A destination sends them on to your webhook.
          </Empty>
        }
      >
        <ul>
          {items.map((destination) => (
            <li key={destination.id} className={styles.line}>
              <span>
                <b>
                  <OuterLink to="/destinations/$id" params={{ id: destination.id }} text={destination.name} most={48} />
                </b>
                <span className="block small">
                  <IdText id={destination.id} />
                </span>
              </span>
              <StateOf destination={destination} />
            </li>
          ))}
        </ul>
      </ListStates>
    </Card>
  );
}

function StateOf({ destination: { enabled, paused } }: { destination: DestinationOf }) {
  if (!enabled) return <StateText state="skipped">Disabled</StateText>;
  if (paused) return <StateText state="paused">Paused</StateText>;
  return <StateText state="delivered">Enabled</StateText>;
}
