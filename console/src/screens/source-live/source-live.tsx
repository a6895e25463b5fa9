import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMay } from '../../api/session.tsx';
import { WithoutPayloads } from '../../parts/without-payloads.tsx';
import { SourceFrame } from '../../shell/source-frame.tsx';
import { LiveTail } from './live-tail.tsx';
import type { LiveSearch } from './live-search.ts';

export function SourceLive() {
  const { id } = useParams({ from: '/shell/sources/$id' });
  const search: LiveSearch = useSearch({ from: '/shell/sources/$id' });
  const navigate = useNavigate({ from: '/sources/$id' });
  const change = (to: Partial<LiveSearch>) =>
    void navigate({ search: (before) => withoutEmpty({ ...before, ...to }), replace: true, resetScroll: false });
  const { type, event, userId } = search;
  const maySee = useMay('payloads:read');
  return (
    <SourceFrame id={id}>
      {(source) =>
        maySee ? (
          <LiveTail key={JSON.stringify([id, type, event, userId])} source={source} search={search} change={change} />
        ) : (
          <WithoutPayloads what="The live tail of calls is" />
        )
      }
    </SourceFrame>
  );
}

function withoutEmpty(search: LiveSearch): Record<string, string> {
  return Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, value]])),
  );
}
