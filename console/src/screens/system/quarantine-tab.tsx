import { NativeSelect } from '@mantine/core';
import type { QuarantineItem } from '@millrace/contract/control';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { readingPages } from '../../api/queries.ts';
import { bytes } from '../../format/numbers.ts';
import { Card } from '../../parts/card.tsx';
import { Empty, ListStates, NoMatch, Older } from '../../parts/list-states.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { QuarantineDrawer } from './quarantine-drawer.tsx';

const KINDS = ['request', 'lane', 'ticket', 'outcome', 'letter', 'config', 'health'];

export function QuarantineTab() {
  const { kind, show } = useSearch({ from: '/shell/system' });
  const navigate = useNavigate({ from: '/system' });
  const go = (search: { kind?: string; show?: string }) =>
    void navigate({ to: '.', search: { tab: 'quarantine', ...search } });
  const of = kind !== undefined && KINDS.includes(kind) ? { kind } : {};
  const pages = useInfiniteQuery(readingPages<QuarantineItem>('/quarantine', { query: of }));
  const items = pages.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Card
      title="Quarantine"
      aside="stored messages that a role could not process"
      right={
        <NativeSelect
          aria-label="Kind"
          value={of.kind ?? ''}
          onChange={({ currentTarget: { value } }) => go(value === '' ? {} : { kind: value })}
          data={[{ value: '', label: 'All kinds' }, ...KINDS]}
        />
      }
    >
      <ListStates
        read={pages}
        failed="The quarantine cannot be shown."
        isEmpty={items.length === 0}
        isFiltered={of.kind !== undefined}
        empty={
          <Empty title="The quarantine is empty">
            A message that a role cannot read or write comes here for 30 days, so that it holds up no other. After a fix
            you put it back to where it came from.
          </Empty>
        }
        noMatch={<NoMatch loosen={() => go({})}>No message of the kind {of.kind} is in the quarantine.</NoMatch>}
      >
        <table className="folds">
          <thead>
            <tr>
              <th>Reason</th>
              <th>Kind</th>
              <th>Stream</th>
              <th className="num">Size</th>
              <th>Since</th>
            </tr>
          </thead>
          <tbody>
            {items.map(({ id, kind: itsKind, stream, reason, bytes: size, quarantinedAt }) => (
              <tr key={id}>
                <td>
                  <Link to="/system" search={{ tab: 'quarantine', ...of, show: id }}>
                    <OuterText text={reason} most={120} />
                  </Link>
                </td>
                <td data-label="Kind">{itsKind}</td>
                <td className="mono">{stream}</td>
                <td className="num nowrap" data-label="Size">
                  {bytes(size)}
                </td>
                <td data-label="Since">
                  <TimeText at={quarantinedAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        <Older pages={pages} />
      </ListStates>
      {show !== undefined && <QuarantineDrawer id={show} close={() => go(of)} />}
    </Card>
  );
}
