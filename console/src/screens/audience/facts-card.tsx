import type { Definition, Source } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { type Page as Items, reading } from '../../api/queries.ts';
import { Card, Facts } from '../../parts/card.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { IdText, OuterText, TimeText } from '../../parts/texts.tsx';

export function FactsCard({ definition }: { definition: Definition }) {
  const { id, key, kind, sources, includeAnonymous, settleSeconds, createdAt, updatedAt } = definition;
  const read = useQuery(reading<Items<Source>>('/sources', { query: { limit: 100 } }));
  const names = new Map((read.data?.items ?? []).map((source) => [source.id, source.name]));
  return (
    <Card title="Facts">
      <div className="pad">
        <Facts
          facts={[
            [
              'Key',
              <span key="k" className="mono">
                <OuterText text={key} most={80} /> <CopyButton text={key} label="Copy the key" />
              </span>,
            ],
            ['Kind', kind === 'audience' ? 'audience' : 'computed trait'],
            [
              'Counts events of',
              sources === undefined ? (
                'every source'
              ) : (
                <OuterText key="s" text={sources.map((source) => names.get(source) ?? source).join(', ')} most={200} />
              ),
            ],
            ['Anonymous visitors', includeAnonymous ? 'are told too' : 'are not told'],
            ['A change waits', settleSeconds === 0 ? 'not at all' : `${settleSeconds} s`],
            ['Created', <TimeText key="c" at={createdAt} />],
            ['Changed', <TimeText key="u" at={updatedAt} />],
            ['Id', <IdText key="i" id={id} />],
          ]}
        />
      </div>
    </Card>
  );
}
