import { TextInput } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMay } from '../../api/session.tsx';
import { count, counted } from '../../format/numbers.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Empty, ListStates, NoMatch, Older } from '../../parts/list-states.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { OuterText } from '../../parts/texts.tsx';
import { Page } from '../../shell/page.tsx';
import { matching, type SourceRow } from './source-rows.ts';
import { SourceTable } from './source-table.tsx';
import { useSourceRows } from './use-source-rows.ts';

export function Sources() {
  const { filter = '' } = useSearch({ from: '/shell/sources' });
  const navigate = useNavigate({ from: '/sources' });
  const setFilter = (text: string) => void navigate({ search: text === '' ? {} : { filter: text }, replace: true });
  const mayWrite = useMay('sources:write');
  const { pages, rows, usage } = useSourceRows();
  const shown = matching(rows, filter);
  const newSource = mayWrite && (
    <LinkButton look="ink" to="/sources/new">
      <Icon name="plus" /> New source
    </LinkButton>
  );
  const hasRows = rows.length > 0;
  return (
    <Page title="Sources">
      <div className="stack">
        {hasRows && <SourcesSentence rows={rows} calls={usage?.calls} actions={newSource} />}
        <Card
          title="Sources"
          right={
            hasRows && (
              <TextInput
                aria-label="Filter by name or id"
                placeholder="Name or id"
                size="xs"
                value={filter}
                data-filter
                onChange={(event) => setFilter(event.currentTarget.value)}
              />
            )
          }
        >
          <ListStates
            read={pages}
            failed="The sources cannot be shown."
            isEmpty={shown.length === 0}
            isFiltered={hasRows && filter !== ''}
            empty={<NoSources action={newSource} />}
            noMatch={
              <NoMatch loosen={() => setFilter('')}>
                None of {counted(rows.length, 'source')} has “{filter}” in its name or as its id.
              </NoMatch>
            }
          >
            <SourceTable rows={shown} />
          </ListStates>
          <Older pages={pages} />
        </Card>
      </div>
    </Page>
  );
}

function NoSources({ action }: { action: React.ReactNode }) {
  return (
    <Empty title="No source yet" action={action}>
      A source is where calls come from: a shop, an app, a service. It has a write key that your code sends with each
      call. Most people see their first call here within five minutes.
    </Empty>
  );
}

type SentenceProps = { rows: readonly SourceRow[]; calls: number | undefined; actions: React.ReactNode };

function SourcesSentence({ rows, calls, actions }: SentenceProps) {
  const worst = [...rows].sort((one, other) => (other.refused ?? 0) - (one.refused ?? 0))[0];
  const isRefusing = worst !== undefined && (worst.refused ?? 0) > 0;
  const off = rows.filter(({ source }) => !source.enabled).length;
  return (
    <Sentence
      actions={actions === false ? undefined : actions}
      then={
        isRefusing ? (
          <>
            Millrace refused <b>{counted(worst.refused ?? 0, 'call')}</b> of{' '}
            <OuterText text={worst.source.name} most={40} /> in the last seven days, most of them as{' '}
            <code>{worst.refusedAs}</code>.
          </>
        ) : (
          'Millrace refused no call in the last seven days.'
        )
      }
    >
      {counted(rows.length, 'source')}
      {off > 0 && `, ${count(off)} of them disabled`}
      {calls !== undefined && `: ${counted(calls, 'call')} accepted this month`}.
    </Sentence>
  );
}
