import type { Destination, Source } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { reading } from '../../api/queries.ts';
import { count } from '../../format/numbers.ts';
import { Card, Facts } from '../../parts/card.tsx';
import { IdText, OuterLink, OuterText, TimeText } from '../../parts/texts.tsx';
import { hasSecret, numberSetting, ruleText } from '../../parts/destination/health/destination-facts.ts';
import { bodyWords } from '../../parts/destination/setting-fields.ts';

export function SetUpCard({ destination }: { destination: Destination }) {
  const { id, sourceId, filters, settings, createdAt } = destination;
  const source = useQuery(reading<Source>(`/sources/${sourceId}`)).data;
  const limit = numberSetting(destination, 'maxPerSecond');
  const side = numberSetting(destination, 'maxConcurrency');
  return (
    <Card
      title="Set up"
      right={
        <Link className="small" to="/destinations/$id/settings" params={{ id }}>
          Settings
        </Link>
      }
    >
      <div className="pad small">
        <Facts
          facts={[
            [
              'Source',
              <OuterLink key="s" text={source?.name ?? sourceId} to="/sources/$id" params={{ id: sourceId }} />,
            ],
            ['Filter', filters.length === 0 ? 'all events' : <Rules key="f" filters={filters} />],
            ['Signing', hasSecret(destination) ? 'webhook-signature and X-Signature' : 'none: no secret is set'],
            ['Body', bodyWords(settings['bodyFormat'])],
            ...(settings['order'] === 'user' ? [['Order', 'by user, within a request'] as const] : []),
            ['Rate limit', limit === undefined ? 'none' : `${count(limit)} a second`],
            ...(side === undefined ? [] : [['Side by side', `at most ${count(side)}`] as const]),
            ['Created', <TimeText key="c" at={createdAt} />],
            ['Id', <IdText key="i" id={id} />],
          ]}
        />
      </div>
    </Card>
  );
}

function Rules({ filters }: { filters: Destination['filters'] }) {
  return filters.map((rule) => (
    <span className="block" key={ruleText(rule)}>
      <OuterText text={ruleText(rule)} most={160} />
    </span>
  ));
}
