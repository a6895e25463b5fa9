import { Checkbox, TextInput } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { readingPages } from '../../api/queries.ts';
import { count } from '../../format/numbers.ts';
import { Card } from '../../parts/card.tsx';
import { Empty, ListStates, NoMatch, Older } from '../../parts/list-states.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { AuditDrawer } from './audit-drawer.tsx';
import { AuditRow } from './audit-row.tsx';
import { type Entry, isRead, isSignIn, matches, namesInLog } from './audit-words.ts';
import styles from './team.module.css';

export function AuditTab({ names: current }: { names: ReadonlyMap<string, string> }) {
  const { filter = '', signIns, reads, show } = useSearch({ from: '/shell/team' });
  const navigate = useNavigate({ from: '/team' });
  const own = {
    ...(filter === '' ? {} : { filter }),
    ...(signIns === 'no' ? { signIns } : {}),
    ...(reads === 'no' ? { reads } : {}),
  };
  const go = (search: object, replace = false) =>
    void navigate({ to: '.', search: { tab: 'audit', ...search }, replace });
  const pages = useInfiniteQuery(readingPages<Entry>('/audit-log', { query: { limit: 100 }, every: 15_000 }));
  const entries = pages.data?.pages.flatMap((page) => page.items) ?? [];
  const names = new Map([...namesInLog(entries), ...current]);
  const nameOf = (id: string | undefined) => (id === undefined ? '' : (names.get(id) ?? id));
  const shown = entries.filter(
    (entry) =>
      !(signIns === 'no' && isSignIn(entry)) &&
      !(reads === 'no' && isRead(entry)) &&
      matches(entry, nameOf(entry.actor['id']), nameOf(entry.objectId), filter),
  );
  const opened = entries.find(({ sequence }) => String(sequence) === show);
  return (
    <Card
      title="Audit log"
      aside={`${count(entries.length)} entries read, newest first`}
      right={<Filters own={own} go={go} />}
    >
      <ListStates
        read={pages}
        failed="The audit log cannot be shown."
        isEmpty={shown.length === 0}
        isFiltered={filter !== '' || signIns === 'no' || reads === 'no'}
        empty={
          <Empty title="No entries yet">
            Every change of this workspace, and every read of payloads, is listed here with who made it.
          </Empty>
        }
        noMatch={
          <NoMatch loosen={() => go({})}>
            None of the {count(entries.length)} entries that were read has “<OuterText text={filter} />
            ”.
            {pages.hasNextPage && ' Older entries follow below.'}
          </NoMatch>
        }
      >
        <table className="folds">
          <thead>
            <tr>
              <th>Who did what</th>
              <th>Differences</th>
              <th>From</th>
              <th className="num">When</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((entry) => (
              <AuditRow entry={entry} older={entries} names={names} search={own} key={entry.sequence} />
            ))}
          </tbody>
        </table>
      </ListStates>
      <Older pages={pages} />
      {opened !== undefined && <AuditDrawer entry={opened} older={entries} names={names} close={() => go(own)} />}
    </Card>
  );
}

type Own = { filter?: string; signIns?: string; reads?: string };

function Filters({ own, go }: { own: Own; go(search: Own, replace?: boolean): void }) {
  return (
    <>
      <Checkbox
        size="xs"
        label="Without sign-ins"
        checked={own.signIns === 'no'}
        onChange={({ currentTarget: { checked } }) => go({ ...own, signIns: checked ? 'no' : '' })}
      />
      <Checkbox
        size="xs"
        label="Without reads"
        checked={own.reads === 'no'}
        onChange={({ currentTarget: { checked } }) => go({ ...own, reads: checked ? 'no' : '' })}
      />
      <TextInput
        className={styles['filter'] ?? ''}
        aria-label="Filter the entries"
        placeholder="Person, thing, action, address"
        data-filter
        value={own.filter ?? ''}
        onChange={({ currentTarget: { value } }) => go({ ...own, filter: value }, true)}
      />
    </>
  );
}
