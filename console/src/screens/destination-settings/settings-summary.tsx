import type { Destination } from '@millrace/contract/control';
import { ruleText } from '@millrace/contract/filter-rule';
import { Card, Facts } from '../../parts/card.tsx';
import { savedTargets } from '../../parts/destination/draft.ts';
import { bodyWords } from '../../parts/destination/setting-fields.ts';
import { Note } from '../../parts/note.tsx';
import { IdText, OuterText, UrlText } from '../../parts/texts.tsx';
import look from './destination-settings.module.css';
import { RetryCard } from './retry-card.tsx';

/** The settings for a role that may not change them. */
export function SettingsSummary({ destination }: { destination: Destination }) {
  const { filters, settings } = destination;
  const targets = savedTargets(settings);
  return (
    <div className="stack">
      <Note title="Your role may look at these settings.">Changing them needs developer.</Note>
      <div className={look.two}>
        <Card title="Settings">
          <div className="pad">
            <Facts
              facts={[
                ['Name', <OuterText key="name" text={destination.name} most={200} />],
                ['Id', <IdText key="id" id={destination.id} />],
                ...targets.map(
                  ({ url, headers = {} }, place) =>
                    [
                      targets.length === 1 ? 'Target' : `Target ${place + 1}`,
                      <span key={url}>
                        <UrlText url={url} most={200} />
                        {Object.keys(headers).length > 0 && (
                          <span className="block small dim">
                            with <OuterText text={Object.keys(headers).join(', ')} most={200} />
                          </span>
                        )}
                      </span>,
                    ] as const,
                ),
                ['Delivered when', settings.successPolicy === 'all' ? 'all answer 2xx' : 'any answers 2xx'],
                ['Body', bodyWords(settings.bodyFormat)],
                ['Order', settings.order === 'user' ? 'by user, within a request' : 'none'],
                ['Secret', settings.sharedSecret === undefined ? 'none: nothing is signed' : 'stored, hidden'],
                ['Requests a second', numberText(settings.maxPerSecond)],
                ['At the same time', numberText(settings.maxConcurrency)],
                [
                  'Filters',
                  filters.length === 0 ? (
                    'every event passes'
                  ) : (
                    <ul key="filters">
                      {filters.map((rule) => (
                        <li key={ruleText(rule)}>
                          <OuterText text={ruleText(rule)} most={300} />
                        </li>
                      ))}
                    </ul>
                  ),
                ],
              ]}
            />
          </div>
        </Card>
        <RetryCard />
      </div>
    </div>
  );
}

function numberText(value: unknown): string {
  return typeof value === 'number' ? `at most ${value.toLocaleString('en-US')}` : 'not limited';
}
