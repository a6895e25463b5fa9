/** Changes and members, each with the way to the profile and to the event. */
import type { Definition, DefinitionHistory, DefinitionMembers } from '@millrace/contract/control';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { readingPages } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { changeWord, causeWord } from '../../parts/audience/change-words.ts';
import { UserLink } from '../../parts/audience/user-link.tsx';
import { ValueText } from '../../parts/audience/value-text.tsx';
import { Card } from '../../parts/card.tsx';
import { Empty, ListStates, Older } from '../../parts/list-states.tsx';
import { Note } from '../../parts/note.tsx';
import { TimeText } from '../../parts/texts.tsx';

type Change = DefinitionHistory['items'][number];
type Member = DefinitionMembers['items'][number];
const PAGE_ITEMS = 25;
const EXACT = { exact: true, includeSearch: true };

export function PeopleCard({ definition }: { definition: Definition }) {
  const maySee = useMay('profiles:read');
  const { tab, range } = useSearch({ from: '/shell/audiences/$id' });
  const kept = range === undefined ? {} : { range };
  const isMembers = tab === 'members';
  const params = { id: definition.id };
  return (
    <div>
      <nav className="tabs" aria-label="Changes and members">
        <Link
          to="/audiences/$id"
          params={params}
          activeOptions={EXACT}
          resetScroll={false}
          search={kept}
          aria-current={isMembers ? undefined : 'page'}
        >
          Changes
        </Link>
        <Link
          to="/audiences/$id"
          params={params}
          activeOptions={EXACT}
          resetScroll={false}
          search={{ ...kept, tab: 'members' }}
          aria-current={isMembers ? 'page' : undefined}
        >
          {definition.kind === 'audience' ? 'Members' : 'Users with a value'}
        </Link>
      </nav>
      {!maySee && <Note title="You may not see profiles.">Ask an owner for the permission profiles:read.</Note>}
      {maySee && (isMembers ? <MemberList definition={definition} /> : <ChangeList definition={definition} />)}
    </div>
  );
}

function ChangeList({ definition }: { definition: Definition }) {
  const read = useInfiniteQuery(
    readingPages<Change>(`/definitions/${definition.id}/history`, { query: { limit: PAGE_ITEMS }, every: 3_000 }),
  );
  const changes = (read.data?.pages ?? []).flatMap(({ items }) => items);
  return (
    <Card title="Changes" aside="newest first">
      <ListStates
        read={read}
        failed="The changes cannot be shown."
        isEmpty={changes.length === 0}
        empty={
          <Empty title="Nobody’s value has changed yet">
            As soon as somebody {definition.kind === 'audience' ? 'enters or leaves' : 'gets another value'}, it stands
            here with its cause: an event, the time, or an edit.
          </Empty>
        }
      >
        <div className="tablewrap">
          <table className="folds">
            <thead>
              <tr>
                <th>User</th>
                <th>{definition.kind === 'audience' ? 'Change' : 'New value'}</th>
                <th>When</th>
                <th>Cause</th>
                <th className="num">Sequence</th>
              </tr>
            </thead>
            <tbody>
              {changes.map((change) => (
                <ChangeRow
                  key={`${change.userId ?? change.anonymousId ?? ''} ${change.sequence} ${change.at}`}
                  change={change}
                  kind={definition.kind}
                />
              ))}
            </tbody>
          </table>
        </div>
      </ListStates>
      <Older pages={read} />
    </Card>
  );
}

function ChangeRow({ change, kind }: { change: Change; kind: Definition['kind'] }) {
  const { userId, anonymousId, value, at, cause, messageId, sequence } = change;
  return (
    <tr>
      <td>
        <UserLink userId={userId} anonymousId={anonymousId} />
      </td>
      <td>{kind === 'audience' ? <b>{changeWord(value)}</b> : <ValueText value={value} most={60} />}</td>
      <td>
        <TimeText at={at} />
      </td>
      <td data-label="cause">
        {messageId === null ? (
          causeWord(cause)
        ) : (
          <Link to="/events/$messageId" params={{ messageId }}>
            {causeWord(cause)}
          </Link>
        )}
      </td>
      <td className="num" data-label="sequence">
        {sequence}
      </td>
    </tr>
  );
}

function MemberList({ definition }: { definition: Definition }) {
  const read = useInfiniteQuery(
    readingPages<Member>(`/definitions/${definition.id}/members`, { query: { limit: PAGE_ITEMS }, every: 5_000 }),
  );
  const members = (read.data?.pages ?? []).flatMap(({ items }) => items);
  const isAudience = definition.kind === 'audience';
  return (
    <Card title={isAudience ? 'Members' : 'Users with a value'}>
      <ListStates
        read={read}
        failed="The members cannot be shown."
        isEmpty={members.length === 0}
        empty={
          <Empty title={isAudience ? 'Nobody is in it' : 'Nobody has a value'}>
            The condition holds for no user now. Edit it to see the size while you change it.
          </Empty>
        }
      >
        <div className="tablewrap">
          <table className="folds">
            <thead>
              <tr>
                <th>User</th>
                {!isAudience && <th>Value</th>}
                <th>Since</th>
                <th className="num">Sequence</th>
              </tr>
            </thead>
            <tbody>
              {members.map(({ userId, anonymousId, value, since, sequence }) => (
                <tr key={userId ?? anonymousId}>
                  <td>
                    <UserLink userId={userId} anonymousId={anonymousId} />
                  </td>
                  {!isAudience && (
                    <td data-label="value">
                      <ValueText value={value} most={60} />
                    </td>
                  )}
                  <td data-label="since">
                    <TimeText at={since} />
                  </td>
                  <td className="num" data-label="sequence">
                    {sequence}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </ListStates>
      <Older pages={read} />
    </Card>
  );
}
