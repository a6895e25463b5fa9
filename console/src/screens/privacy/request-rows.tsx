import type { Source } from '@millrace/contract/control';
import { Link, useNavigate } from '@tanstack/react-router';
import { count } from '../../format/numbers.ts';
import { standingOfJob } from '../../parts/job/job-words.ts';
import { Row, RowTable } from '../../parts/lists/row-table.tsx';
import { StateText } from '../../parts/state-mark.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { type Deletion, erasedCount, noticeWords } from '../../parts/job/receipt.ts';

const COLUMNS = [
  { name: 'Requested' },
  { name: 'State' },
  { name: 'Destinations' },
  { name: 'Erased', isNumber: true },
  { name: 'Sources', isWide: true },
  { name: 'Later calls', isWide: true },
  { name: 'User, as a hash', isWide: true },
];

export function RequestRows({ requests, sources }: { requests: readonly Deletion[]; sources: readonly Source[] }) {
  const navigate = useNavigate();
  return (
    <RowTable label="Deletion requests" columns={COLUMNS}>
      {requests.map((request) => (
        <Row key={request.id} open={() => void navigate({ to: '/privacy/$id', params: { id: request.id } })}>
          <td>
            <Link to="/privacy/$id" params={{ id: request.id }}>
              <TimeText at={request.createdAt} />
            </Link>
          </td>
          <td>
            <StateText state={standingOfJob(request).state}>{standingOfJob(request).word}</StateText>
          </td>
          <td>{noticeWords(request)}</td>
          <td className="num">{count(erasedCount(request))}</td>
          <td className="m-hide">
            {request.sources === null ? (
              'all'
            ) : (
              <OuterText
                text={request.sources.map((id) => sources.find((each) => each.id === id)?.name ?? id).join(', ')}
                most={60}
              />
            )}
          </td>
          <td className="m-hide">{request.suppress ? 'dropped' : 'accepted'}</td>
          <td className="m-hide mono dim">
            …{request.userHashes[0]?.slice(-8)}
            {request.userHashes.length > 1 && ` and ${count(request.userHashes.length - 1)} more`}
          </td>
        </Row>
      ))}
    </RowTable>
  );
}
