/** Why somebody is in, or not: each condition with its value, and what was sent about it. */
import type { Definition, Destination, MembershipExplanation } from '@millrace/contract/control';
import { isAudienceLeaf, isEventLeaf } from '@millrace/contract/audiences';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lookAgain } from '../../api/look-again.ts';
import { type Page as Items, reading } from '../../api/queries.ts';
import { SentenceText } from '../../parts/audience/sentence-text.tsx';
import { ValueText } from '../../parts/audience/value-text.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { StateText } from '../../parts/state-mark.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import type { ChosenMembership } from './chosen.ts';
import { leafClaim } from './profile-words.ts';
import { SentCard } from './sent-card.tsx';
import type { Asked } from './user-profile.tsx';
import css from './user-profile.module.css';

type WhyCardsProps = { chosen: ChosenMembership; asked: Asked; definitions: readonly Definition[] };

export function WhyCards({ chosen, asked, definitions }: WhyCardsProps) {
  const destinations = useQuery(reading<Items<Destination>>('/destinations', { query: { limit: 100 } }));
  const read = useQuery({
    ...reading<MembershipExplanation>(
      `/profiles/${encodeURIComponent(asked.userId)}/memberships/${encodeURIComponent(chosen.id)}/explain`,
      { query: asked.kind === 'anonymous' ? { kind: asked.kind } : {} },
    ),
    refetchInterval: lookAgain<MembershipExplanation>(() => 3_000),
  });
  const names = new Map(definitions.map(({ id, name }) => [id, name]));
  return (
    <>
      <Card
        title={
          <>
            Why: <OuterText text={chosen.name} most={60} />
          </>
        }
        right={
          <LinkButton small to="/audiences/$id" params={{ id: chosen.id }}>
            Open it
          </LinkButton>
        }
      >
        {read.isPending && <LoadingRows rows={3} />}
        {read.error !== null && (
          <div className="pad">
            <ProblemNote error={read.error} what="The reason cannot be shown." retry={() => void read.refetch()} />
          </div>
        )}
        {read.data !== undefined && <Leaves explanation={read.data} names={names} />}
      </Card>
      {read.data !== undefined && <SentCard explanation={read.data} destinations={destinations.data?.items ?? []} />}
    </>
  );
}

type LeavesProps = { explanation: MembershipExplanation; names: ReadonlyMap<string, string> };

function Leaves({ explanation, names }: LeavesProps) {
  const { leaves, eventsFrom, isCapped, kind, value } = explanation;
  return (
    <>
      <div className="tablewrap">
        <table className="folds">
          <thead>
            <tr>
              <th>Condition</th>
              <th className="num">Value</th>
              {kind === 'audience' && <th>Holds</th>}
              <th>Last events</th>
              <th>Changes by itself</th>
            </tr>
          </thead>
          <tbody>
            {leaves.map((leaf) => (
              <LeafRow key={leaf.path} leaf={leaf} names={names} kind={kind} value={value} />
            ))}
          </tbody>
        </table>
      </div>
      <div className="pad stack">
        {isCapped && (
          <Note title="The list is longer than Millrace keeps.">It holds the newest 100 different values.</Note>
        )}
        <p className="small dim">
          Last events are those that Millrace still stores
          {eventsFrom !== null && (
            <>
              , from <TimeText at={eventsFrom} /> on
            </>
          )}
          . Older ones count, too.
        </p>
      </div>
    </>
  );
}

type LeafValueProps = { leaf: LeafRowProps['leaf']; isAudience: boolean; value: LeafRowProps['value'] };

function LeafValue({ leaf, isAudience, value }: LeafValueProps) {
  if (!isAudience) return <ValueText value={value} most={40} />;
  if (isAudienceLeaf(leaf.leaf)) return leaf.value === true ? 'in' : 'not in';
  return <ValueText value={leaf.value} most={40} />;
}

type LeafRowProps = {
  leaf: MembershipExplanation['leaves'][number];
  names: ReadonlyMap<string, string>;
  kind: 'audience' | 'trait';
  value: MembershipExplanation['value'];
};

function LeafRow({ leaf, names, kind, value }: LeafRowProps) {
  const { messageIds, changesAt, threshold } = leaf;
  const claim = leafClaim(leaf, names);
  const isAudience = kind === 'audience';
  const isCounted = isEventLeaf(leaf.leaf);
  return (
    <tr>
      <td className={css.claim}>{isAudience ? <SentenceText pieces={claim.words} /> : 'the value of the trait'}</td>
      <td className="num" data-label="value">
        <b>
          <LeafValue leaf={leaf} isAudience={isAudience} value={value} />
        </b>
        {isAudience && isCounted && threshold !== '' && (
          <span className="sub">
            {claim.isNot ? 'must not be' : 'needs'} {threshold}
          </span>
        )}
      </td>
      {isAudience && (
        <td>
          {claim.holds ? <StateText state="delivered">yes</StateText> : <StateText state="skipped">no</StateText>}
        </td>
      )}
      <td data-label="events">
        {messageIds.length === 0 && <span className="dim">none stored</span>}
        {messageIds.map((messageId) => (
          <Link key={messageId} className={`mono ${css.event}`} to="/events/$messageId" params={{ messageId }}>
            <OuterText text={messageId.length > 16 ? `…${messageId.slice(-8)}` : messageId} most={24} />
          </Link>
        ))}
      </td>
      <td data-label="changes by itself">
        {changesAt === null ? <span className="dim">no</span> : <TimeText at={changesAt} />}
      </td>
    </tr>
  );
}
