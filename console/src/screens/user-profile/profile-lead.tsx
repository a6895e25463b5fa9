import type { Profile } from '@millrace/contract/control';
import { useMay } from '../../api/session.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { useNow } from '../../parts/use-now.ts';
import type { ChosenMembership } from './chosen.ts';
import { endWords, leadWords, nameOf } from './profile-words.ts';

type ProfileLeadProps = { profile: Profile; chosen: ChosenMembership | undefined };

export function ProfileLead({ profile, chosen }: ProfileLeadProps) {
  const now = useNow(60_000);
  const mayErase = useMay('deletions:write');
  const who = nameOf(profile);
  const isUser = profile.kind === 'user';
  const actions = (
    <>
      {isUser && (
        <LinkButton to="/deliveries" search={{ userId: profile.id }}>
          Deliveries
        </LinkButton>
      )}
      {isUser && mayErase && (
        <LinkButton look="danger" to="/privacy" search={{ userId: profile.id }}>
          Erase user…
        </LinkButton>
      )}
    </>
  );
  if (chosen === undefined)
    return (
      <Sentence actions={actions}>
        <OuterText text={`${who} is known to Millrace.`} most={300} />
      </Sentence>
    );
  const { membership, kind } = chosen;
  return (
    <Sentence
      actions={actions}
      then={endWords(membership?.endsAt ?? null, kind, membership !== undefined, now)}
      {...(membership === undefined || kind === 'trait' ? {} : { state: { name: 'delivered' as const, words: 'In.' } })}
    >
      <OuterText text={leadWords(who, chosen, now)} most={300} />
    </Sentence>
  );
}
