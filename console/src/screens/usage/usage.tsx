import type { SuppressedCalls, Usage as UsageSchema } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import type { Static } from 'typebox';
import { reading } from '../../api/queries.ts';
import { count, counted, percent } from '../../format/numbers.ts';
import { LinkButton } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { useNow } from '../../parts/use-now.ts';
import { Page } from '../../shell/page.tsx';
import { HostsCard } from './hosts-card.tsx';
import { LimitsCard } from './limits-card.tsx';
import { MonthSwitch } from './month-switch.tsx';
import { monthOf, monthWords, readMonth } from './months.ts';
import { SourcesCard } from './sources-card.tsx';
import { SuppressedCard } from './suppressed-card.tsx';
import { WorkspaceLimitsCard } from './workspace-limits-card.tsx';

const REFRESH_MS = 30_000;

export function Usage() {
  const thisMonth = monthOf(useNow(60_000));
  const month = readMonth(useSearch({ from: '/shell/usage' }).month) ?? thisMonth;
  const usage = useQuery(reading<Static<typeof UsageSchema>>('/usage', { query: { month }, every: REFRESH_MS }));
  const dropped = useQuery(
    reading<Static<typeof SuppressedCalls>>('/suppressions/calls', { query: { month }, every: REFRESH_MS }),
  );
  // The answer of the month before stays until the new one is there, and is not shown.
  const shown = usage.data?.month === month ? usage.data : undefined;
  return (
    <Page title="Usage" right={<MonthSwitch month={month} last={thisMonth} />}>
      <div className="stack">
        {shown !== undefined && <Told usage={shown} isNow={month === thisMonth} />}
        {usage.error !== null && (
          <ProblemNote error={usage.error} what="The usage cannot be shown." retry={() => void usage.refetch()} />
        )}
        {shown === undefined && usage.error === null && (
          <Card>
            <LoadingRows />
          </Card>
        )}
        {shown !== undefined && <SourcesCard usage={shown} />}
        <WorkspaceLimitsCard />
        <HostsCard />
        <div className="cols">
          <SuppressedCard read={dropped} month={month} names={namesOf(usage.data)} />
          <LimitsCard />
        </div>
      </div>
    </Page>
  );
}

function namesOf(usage: Static<typeof UsageSchema> | undefined): ReadonlyMap<string, string> {
  return new Map((usage?.sources ?? []).map(({ sourceId, name }) => [sourceId, name ?? sourceId]));
}

function Told({ usage, isNow }: { usage: Static<typeof UsageSchema>; isNow: boolean }) {
  const { month, calls, sources } = usage;
  const suppressed = sources.reduce((sum, source) => sum + source.suppressed, 0);
  const when = isNow ? `so far in ${monthWords(month)}` : `in ${monthWords(month)}`;
  if (calls === 0) {
    return (
      <Sentence
        then="Every accepted call counts once, before any filter: refused calls do not count."
        actions={<LinkButton to="/sources">See the sources</LinkButton>}
      >
        Millrace accepted no call {when}.
      </Sentence>
    );
  }
  const dropped =
    suppressed === 0
      ? 'None of them was dropped for a suppressed user.'
      : `${counted(suppressed, 'call', 'calls')} of them (${percent(suppressed / calls)} %) ${suppressed === 1 ? 'was' : 'were'} dropped because their user is suppressed.`;
  return (
    <Sentence then={`${dropped} Every accepted call counts once, before any filter; refused calls do not count.`}>
      {counted(sources.length, 'source', 'sources')} sent {count(calls)} accepted calls {when}.
    </Sentence>
  );
}
