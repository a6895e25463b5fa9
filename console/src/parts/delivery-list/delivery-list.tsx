/**
 * A list of any length: pages by cursor, of which the next is read ahead, and only the rows in view are in the document. It reads
 * itself anew while it is at its beginning and untouched; otherwise it holds and counts what is new.
 */
import type { Delivery, Destination } from '@millrace/contract/control';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Page, reading, readingPages } from '../../api/queries.ts';
import { counted, percent } from '../../format/numbers.ts';
import { Button, LinkButton } from '../button.tsx';
import { Card } from '../card.tsx';
import { Empty, ListStates, NoMatch } from '../list-states.tsx';
import { useRange } from '../range-switch.tsx';
import { useNow } from '../use-now.ts';
import { useSearchChange } from '../use-search-change.ts';
import { DeliveryDrawer } from './delivery-drawer.tsx';
import { DeliveryTable } from './delivery-table.tsx';
import { type DeliverySearch, FILTERS, filterWords, isFiltered, queryOf } from './delivery-search.ts';
import styles from './delivery-list.module.css';
import { useRowKeys } from './use-row-keys.ts';

const NEVER_MS = 2_000_000_000;
const MINUTE_MS = 60_000;

type DeliveryListProps = {
  search: DeliverySearch & { show?: string };
  /** Filters that belong to the page, as its destination. */
  fixed?: DeliverySearch;
  destinations?: readonly Destination[] | undefined;
};

export function DeliveryList({ search, fixed = {}, destinations }: DeliveryListProps) {
  const change = useSearchChange();
  const [isPointed, setIsPointed] = useState(false);
  const [isDeep, setIsDeep] = useState(false);
  const { words } = useRange();
  const { show } = search;
  const query = useListQuery({ ...search, ...fixed });
  const isHeld = isPointed || isDeep || show !== undefined;
  const client = useQueryClient();
  const pages = readingPages<Delivery>('/deliveries', { query, every: isHeld ? false : 5_000 });
  // Reading again means every page that is there: a long list does it only when it is asked to.
  const read = useInfiniteQuery({ ...pages, refetchOnWindowFocus: !isHeld, refetchOnReconnect: !isHeld });
  const items = read.data?.pages.flatMap((page) => page.items) ?? [];
  const newer = useNewer(query, items[0], isHeld);
  useRowKeys(items, show);
  const toBeginning = () => {
    client.setQueryData(pages.queryKey, (before) => before && { pages: before.pages.slice(0, 1), pageParams: [''] });
    window.scrollTo(0, 0);
    void read.refetch();
  };
  const loosen = () => change(Object.fromEntries(FILTERS.map((name) => [name, undefined])));
  return (
    <div onPointerEnter={() => setIsPointed(true)} onPointerLeave={() => setIsPointed(false)}>
      {newer > 0 && (
        <div className={styles['newer']}>
          <Button small onClick={toBeginning}>
            Show {newer >= 100 ? '100+ new deliveries' : counted(newer, 'new delivery', 'new deliveries')}
          </Button>
        </div>
      )}
      <SampledNote kept={read.data?.pages[0]?.successRowsKept} />
      <Card>
        <ListStates
          read={read}
          failed="The deliveries cannot be shown."
          isEmpty={items.length === 0}
          isFiltered={isFiltered(search, fixed)}
          empty={
            <Empty
              title={`No delivery in the ${words}`}
              action={<LinkButton to="/sources">Look at the sources</LinkButton>}
            >
              Each event becomes one delivery for every destination of its source, and stands here with its attempts and
              answers.
            </Empty>
          }
          noMatch={
            <NoMatch loosen={loosen}>
              Millrace found no delivery of the {words} with {filterWords({ ...search, ...withoutFixed(fixed) })}.
            </NoMatch>
          }
        >
          <DeliveryTable items={items} pages={read} show={show} names={namesOf(destinations)} setIsDeep={setIsDeep} />
        </ListStates>
      </Card>
      <DeliveryDrawer id={show} close={() => change({ show: undefined })} />
    </div>
  );
}

function SampledNote({ kept = 1 }: { kept: number | undefined }) {
  if (kept >= 1) return null;
  return (
    <p className="soft">
      The list has {percent(kept)} of the deliveries that succeeded at once (MILLRACE_RECORD_ROWS), and all others. The
      totals count every delivery.
    </p>
  );
}

/** The beginning of the range stays where it was when the page was opened: a list must not move under its reader. */
function useListQuery(search: DeliverySearch) {
  const openedAt = useNow(NEVER_MS);
  const { ms } = useRange();
  const from = Math.floor((openedAt - ms) / MINUTE_MS) * MINUTE_MS;
  return queryOf(search, new Date(from).toISOString());
}

function useNewer(query: ReturnType<typeof queryOf>, first: Delivery | undefined, isHeld: boolean): number {
  const from = first?.receivedAt;
  const { data } = useQuery(
    reading<Page<Delivery>>('/deliveries', {
      query: { ...query, from },
      every: 5_000,
      enabled: isHeld && from !== undefined,
    }),
  );
  if (!isHeld || from === undefined) return 0;
  return (data?.items ?? []).filter(({ receivedAt }) => receivedAt > from).length;
}

function withoutFixed(fixed: DeliverySearch): DeliverySearch {
  return Object.fromEntries(Object.keys(fixed).map((name) => [name, undefined]));
}

function namesOf(destinations: readonly Destination[] | undefined): ReadonlyMap<string, string> | undefined {
  return destinations === undefined ? undefined : new Map(destinations.map(({ id, name }) => [id, name]));
}
