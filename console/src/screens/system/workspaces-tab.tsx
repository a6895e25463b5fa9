import type { InstallationWorkspace } from '@millrace/contract/control';
import { useInfiniteQuery } from '@tanstack/react-query';
import { readingPages } from '../../api/queries.ts';
import { count } from '../../format/numbers.ts';
import { Card } from '../../parts/card.tsx';
import { EndWorkspace } from '../../parts/end-workspace.tsx';
import { Empty, ListStates, Older } from '../../parts/list-states.tsx';
import { IdText, OuterText, TimeText } from '../../parts/texts.tsx';

/** Every workspace by its numbers; an operator sees nothing that is in them. */
export function WorkspacesTab() {
  const pages = useInfiniteQuery(
    readingPages<InstallationWorkspace>('/installation/workspaces', { query: { limit: 100 }, every: 30_000 }),
  );
  const items = pages.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Card title="Workspaces" aside="sizes and calls; contents are open to members alone">
      <ListStates
        read={pages}
        failed="The workspaces cannot be shown."
        isEmpty={items.length === 0}
        empty={<Empty title="No workspaces">Every workspace of this installation is listed here.</Empty>}
      >
        <table className="folds">
          <thead>
            <tr>
              <th>Workspace</th>
              <th className="num">Members</th>
              <th className="num">Sources</th>
              <th className="num">Destinations</th>
              <th className="num">Audiences and traits</th>
              <th className="num">Calls this month</th>
              <th className="num">Month before</th>
              <th>Since</th>
              <th>End</th>
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <Row item={item} key={item.id} />
            ))}
          </tbody>
        </table>
      </ListStates>
      <Older pages={pages} />
    </Card>
  );
}

function Row({ item }: { item: InstallationWorkspace }) {
  const figures = [
    ['Members', item.members],
    ['Sources', item.sources],
    ['Destinations', item.destinations],
    ['Audiences and traits', item.definitions],
    ['Calls this month', item.calls],
    ['Month before', item.callsBefore],
  ] as const;
  return (
    <tr>
      <td>
        <b>
          <OuterText text={item.name} most={60} />
        </b>
        <span className="sub">
          <IdText id={item.id} />
        </span>
      </td>
      {figures.map(([label, figure]) => (
        <td className="num" data-label={label} key={label}>
          {count(figure)}
        </td>
      ))}
      <td data-label="Since">
        <TimeText at={item.createdAt} />
      </td>
      <td data-label="End">
        <EndWorkspace
          workspace={item}
          path={`/installation/workspaces/${item.id}/deletion`}
          renews={['/installation/workspaces']}
        />
      </td>
    </tr>
  );
}
