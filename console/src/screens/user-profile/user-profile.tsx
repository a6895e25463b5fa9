/** One user: who they are, in which audiences and why, when that ends, and what was sent about them. */
import type { Profile } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { readingDefinitions } from '../../api/definitions.ts';
import { hasStatus, lookAgain } from '../../api/look-again.ts';
import { reading } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { cutText, visible } from '../../format/texts.ts';
import { Empty, LoadingRows } from '../../parts/list-states.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { Page } from '../../shell/page.tsx';
import { chosenOf } from './chosen.ts';
import { IdentityCard, TraitsCard } from './identity-card.tsx';
import { MembershipCard } from './membership-card.tsx';
import { ProfileLead } from './profile-lead.tsx';
import { nameOf } from './profile-words.ts';
import css from './user-profile.module.css';
import { WhyCards } from './why-cards.tsx';

const ABOVE = [{ name: 'Profiles', to: '/profiles' }] as const;

export function UserProfile() {
  const { userId } = useParams({ from: '/shell/profiles/$userId' });
  const { kind } = useSearch({ from: '/shell/profiles/$userId' });
  const maySee = useMay('profiles:read');
  const read = useQuery({
    ...reading<Profile>(`/profiles/${encodeURIComponent(userId)}`, {
      query: kind === 'anonymous' ? { kind } : {},
      enabled: maySee,
    }),
    placeholderData: () => undefined,
    refetchInterval: lookAgain<Profile>(() => 3_000),
  });
  const isUnknown = hasStatus(read.error, 404);
  return (
    <Page title={read.data === undefined ? cutText(visible(userId), 60) : nameOf(read.data)} above={ABOVE}>
      {!maySee && <Note title="Profiles need the permission profiles:read.">Ask an admin or the owner.</Note>}
      {isUnknown && <Unknown userId={userId} />}
      {read.error !== null && !isUnknown && (
        <ProblemNote error={read.error} what="The profile cannot be shown." retry={() => void read.refetch()} />
      )}
      {maySee && read.isPending && <LoadingRows />}
      {read.data !== undefined && !isUnknown && <Shown profile={read.data} asked={{ userId, kind }} />}
    </Page>
  );
}

function Unknown({ userId }: { userId: string }) {
  return (
    <Empty title="No profile has this id">
      Millrace keeps a profile of everybody whose events arrive while the workspace has an audience or a computed trait.
      Nothing has come for <OuterText text={userId} most={80} />, or the user was erased. Ids are compared letter by
      letter.{' '}
      <Link to="/events" search={{ userId }}>
        Look among the stored events
      </Link>
    </Empty>
  );
}

/** The id as it was asked for: it may be one that is linked to the profile. */
export type Asked = { userId: string; kind: string | undefined };

function Shown({ profile, asked }: { profile: Profile; asked: Asked }) {
  const { why } = useSearch({ from: '/shell/profiles/$userId' });
  const all = useQuery(readingDefinitions({ every: 15_000 }));
  const definitions = all.data?.items ?? [];
  const chosen = chosenOf(profile, definitions, why);
  return (
    <>
      <ProfileLead profile={profile} chosen={chosen} />
      <div className={`${css.columns} mt2`}>
        <div className="stack">
          <MembershipCard profile={profile} definitions={definitions} asked={asked} chosenId={chosen?.id} />
          <IdentityCard profile={profile} />
          <TraitsCard profile={profile} />
        </div>
        <div className="stack">
          {chosen === undefined ? (
            <Note title="There is no audience yet.">
              As soon as there is one, this page says whether this user is in, why, and when it ends.
            </Note>
          ) : (
            <WhyCards key={chosen.id} chosen={chosen} asked={asked} definitions={definitions} />
          )}
        </div>
      </div>
    </>
  );
}
