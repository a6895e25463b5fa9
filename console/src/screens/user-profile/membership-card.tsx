import type { Definition, Profile } from '@millrace/contract/control';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { moment } from '../../format/times.ts';
import { ValueText } from '../../parts/audience/value-text.tsx';
import { Card } from '../../parts/card.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { useNow } from '../../parts/use-now.ts';
import type { Asked } from './user-profile.tsx';
import css from './user-profile.module.css';

type MembershipCardProps = {
  profile: Profile;
  definitions: readonly Definition[];
  asked: Asked;
  chosenId: string | undefined;
};

/** What the user is in first, then what they are not in: each can be explained. */
export function MembershipCard({ profile, definitions, asked, chosenId }: MembershipCardProps) {
  const now = useNow(60_000);
  const held = new Map(profile.memberships.map((membership) => [membership.definitionId, membership]));
  const others = definitions.filter(({ id, state }) => !held.has(id) && state !== 'deleting');
  return (
    <Card
      title="Audiences and traits"
      aside={`${profile.memberships.length} of ${profile.memberships.length + others.length}`}
    >
      {profile.memberships.length + others.length === 0 && <p className="pad dim">There is none yet.</p>}
      <ul className={css.memberships}>
        {profile.memberships.map(({ definitionId, name, kind, value, since, endsAt }) => (
          <Entry key={definitionId} id={definitionId} name={name} asked={asked} isChosen={definitionId === chosenId}>
            {kind === 'trait' && (
              <>
                <ValueText value={value} most={40} /> ·{' '}
              </>
            )}
            {kind === 'audience' ? 'in since' : 'since'} {moment(since, now)}
            {endsAt === null ? ' · no end by time' : ` · until ${moment(endsAt, now)} or later`}
          </Entry>
        ))}
        {others.map(({ id, name, kind }) => (
          <Entry key={id} id={id} name={name} asked={asked} isChosen={id === chosenId} isOut>
            {kind === 'audience' ? 'not in' : 'no value'}
          </Entry>
        ))}
      </ul>
    </Card>
  );
}

type EntryProps = {
  id: string;
  name: string;
  asked: Asked;
  isChosen: boolean;
  isOut?: boolean;
  children: ReactNode;
};

function Entry({ id, name, asked: { userId, kind }, isChosen, isOut = false, children }: EntryProps) {
  return (
    <li className={isOut ? css.out : undefined}>
      <Link
        to="/profiles/$userId"
        params={{ userId }}
        search={{ ...(kind === undefined ? {} : { kind }), why: id }}
        resetScroll={false}
        activeOptions={{ exact: true, includeSearch: true }}
        aria-current={isChosen ? 'true' : undefined}
      >
        <b>
          <OuterText text={name} most={60} />
        </b>
        <span className="small soft">{children}</span>
      </Link>
    </li>
  );
}
