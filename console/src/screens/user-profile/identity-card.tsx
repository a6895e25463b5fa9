/** Who it is: ids, groups, and the traits that identify calls gave. */
import type { Profile } from '@millrace/contract/control';
import { Link } from '@tanstack/react-router';
import { ValueText } from '../../parts/audience/value-text.tsx';
import { Card, Facts } from '../../parts/card.tsx';
import { IdText, OuterText, TimeText } from '../../parts/texts.tsx';
import css from './user-profile.module.css';

const MOST_TRAITS = 50;
const MOST_LINKS = 20;

export function IdentityCard({ profile }: { profile: Profile }) {
  const { kind, id, links, groups, firstSeenAt, lastSeenAt } = profile;
  return (
    <Card title="Identity">
      <div className="pad stack">
        <Facts
          facts={[
            [kind === 'user' ? 'userId' : 'anonymousId', <IdText key="i" id={id} />],
            ['First seen', firstSeenAt === null ? 'not yet' : <TimeText key="f" at={firstSeenAt} />],
            ['Last event', lastSeenAt === null ? 'none' : <TimeText key="l" at={lastSeenAt} withDistance />],
            ...(kind === 'user'
              ? [
                  [
                    'Events',
                    <Link key="e" to="/events" search={{ userId: id }}>
                      stored events
                    </Link>,
                  ] as const,
                ]
              : []),
          ]}
        />
        {links.length > 0 && (
          <div>
            <h3 className={css.head}>Also known as</h3>
            <ul className={css.ids}>
              {links.slice(0, MOST_LINKS).map((link) => (
                <li key={`${link.kind} ${link.id}`}>
                  <IdText id={link.id} />
                  <span className="dim">{link.kind === 'user' ? 'userId, by alias' : 'anonymousId'}</span>
                </li>
              ))}
              {links.length > MOST_LINKS && <li className="dim">and {links.length - MOST_LINKS} more</li>}
            </ul>
          </div>
        )}
        {groups.length > 0 && (
          <div>
            <h3 className={css.head}>Groups</h3>
            <ul className={css.ids}>
              {groups.map(({ groupId, at }) => (
                <li key={groupId}>
                  <span className="mono">
                    <OuterText text={groupId} most={40} />
                  </span>
                  <span className="dim">
                    since <TimeText at={at} />
                  </span>
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
    </Card>
  );
}

export function TraitsCard({ profile: { traits } }: { profile: Profile }) {
  const all = Object.entries(traits);
  return (
    <Card title="Traits" aside={String(all.length)}>
      <div className="pad">
        {all.length === 0 ? (
          <p className="dim">No identify call gave one.</p>
        ) : (
          <dl className="kv">
            {all.slice(0, MOST_TRAITS).map(([name, value]) => (
              <div key={name} className="fact">
                <dt>
                  <OuterText text={name} most={40} />
                </dt>
                <dd>
                  <ValueText value={value} most={120} />
                </dd>
              </div>
            ))}
          </dl>
        )}
        {all.length > MOST_TRAITS && <p className="dim">and {all.length - MOST_TRAITS} more</p>}
      </div>
    </Card>
  );
}
