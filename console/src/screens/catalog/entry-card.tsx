import type { CatalogItem } from '@millrace/contract/control';
import type { Static } from 'typebox';
import { Card, Facts } from '../../parts/card.tsx';
import { readSettings } from './read-settings.ts';

/** Settings in words, where their name alone does not say it. */
const MEANINGS: Record<string, string> = {
  targets: 'The URLs that Millrace sends to',
  'targets[].url': 'Absolute, http or https; a private address needs the permission of the installation',
  'targets[].headers': 'Sent with every request to this URL',
  sharedSecret: 'Signs every request; you can rotate it without a gap',
  successPolicy: 'Whether one target is enough, or all must accept',
  bodyFormat: 'The documented fields or the full event, one in a request or up to 100',
  order: 'Whether events of one user in one request are sent one after the other',
  maxConcurrency: 'Requests under way at one time',
  maxPerSecond: 'Requests a second',
};

const ABOUT: Record<string, string> = { Webhooks: 'a signed HTTP POST to one to five URLs of yours' };

type EntryCardProps = { entry: Static<typeof CatalogItem> };

export function EntryCard({ entry }: EntryCardProps) {
  const { name, accepts, acceptsHistory, settingsSchema } = entry;
  return (
    <Card title={name} {...(ABOUT[name] === undefined ? {} : { aside: ABOUT[name] })}>
      <div className="pad">
        <Facts
          facts={[
            ['Accepts', accepts.join(', ')],
            ['Replays', acceptsHistory ? 'stored events can be sent again' : 'not possible'],
            [
              'Skipped by a call',
              <span key="key">
                with <code>{`"integrations": { "${name}": false }`}</code>
              </span>,
            ],
          ]}
        />
      </div>
      <table className="folds">
        <thead>
          <tr>
            <th>Setting</th>
            <th>Meaning</th>
            <th>Value</th>
            <th>Needed</th>
          </tr>
        </thead>
        <tbody>
          {readSettings(settingsSchema).map(({ name: setting, isRequired, isSecret, rule }) => (
            <tr key={setting}>
              <td className="mono">{setting}</td>
              <td className="soft">
                {MEANINGS[setting] ?? ''}
                {isSecret && <span className="sub">secret: Millrace seals it and never shows it again</span>}
              </td>
              <td className="soft">{rule}</td>
              <td>{isRequired ? 'needed' : <span className="dim">optional</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}
