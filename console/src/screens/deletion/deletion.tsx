/** One deletion request: its stores, its destinations, and the receipt. */
import type { Destination, Source } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { lookAgain } from '../../api/look-again.ts';
import { type Page as ListPage, reading } from '../../api/queries.ts';
import { count } from '../../format/numbers.ts';
import { localSentence } from '../../format/sentences.ts';
import { Button } from '../../parts/button.tsx';
import { Card, Facts } from '../../parts/card.tsx';
import { standingOfJob } from '../../parts/job/job-words.ts';
import { LoadingRows } from '../../parts/list-states.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { IdText, OuterText, TimeText } from '../../parts/texts.tsx';
import { useNow } from '../../parts/use-now.ts';
import { Page } from '../../shell/page.tsx';
import { NoticeTable } from './notice-table.tsx';
import {
  type Deletion as Request,
  deletionSentence,
  nextLookMs,
  receiptFile,
  troubleWords,
} from '../../parts/job/receipt.ts';
import { saveFile } from './save-file.ts';
import { StoreTable } from './store-table.tsx';

const ABOVE = [{ name: 'Privacy', to: '/privacy' as const }];

export function Deletion() {
  const { id } = useParams({ from: '/shell/privacy/$id' });
  const read = useQuery({
    ...reading<Request>(`/deletion-requests/${encodeURIComponent(id)}`),
    placeholderData: () => undefined,
    refetchInterval: lookAgain<Request>(nextLookMs),
  });
  return (
    <Page title={`Deletion …${id.slice(-6)}`} above={ABOVE}>
      {read.isPending && <LoadingRows />}
      {read.error !== null && (
        <ProblemNote
          error={read.error}
          what="The deletion request cannot be shown."
          retry={() => void read.refetch()}
        />
      )}
      {read.data !== undefined && <Shown deletion={read.data} />}
    </Page>
  );
}

function Shown({ deletion }: { deletion: Request }) {
  const now = useNow(10_000);
  const destinations = useQuery(reading<ListPage<Destination>>('/destinations', { query: { limit: 100 } }));
  const sources = useQuery(reading<ListPage<Source>>('/sources', { query: { limit: 100 } }));
  const nameOf = (id: string) =>
    destinations.data?.items.find((each) => each.id === id)?.name ??
    sources.data?.items.find((each) => each.id === id)?.name ??
    id;
  const { state, word } = standingOfJob(deletion);
  const trouble = troubleWords(deletion, nameOf);
  return (
    <>
      <Sentence
        state={{ name: state, words: `${word}.` }}
        then={trouble !== undefined && <OuterText text={trouble} most={600} />}
        actions={
          <Button look="ink" onClick={() => saveFile(receiptFile(deletion))}>
            Download receipt
          </Button>
        }
      >
        {deletionSentence(deletion, now)}
      </Sentence>
      {deletion.problem !== null && (
        <div className="mt">
          <Note
            state={deletion.state === 'failed' ? 'givenup' : 'retrying'}
            title={deletion.state === 'failed' ? 'Failed:' : 'It waits:'}
          >
            <OuterText text={localSentence(deletion.problem)} most={600} />
          </Note>
        </div>
      )}
      <div className="cols mt2">
        <div className="stack">
          <NoticeTable deletion={deletion} nameOf={nameOf} />
          <StoreTable deletion={deletion} />
        </div>
        <Asked deletion={deletion} nameOf={nameOf} />
      </div>
    </>
  );
}

function Asked({ deletion, nameOf }: { deletion: Request; nameOf(id: string): string }) {
  const { sources, userHashes } = deletion;
  return (
    <Card title="The request">
      <div className="pad stack">
        <Facts
          facts={[
            ['Users', count(userHashes.length)],
            [
              'Sources',
              sources === null ? 'all' : <OuterText key="s" text={sources.map(nameOf).join(', ')} most={200} />,
            ],
            ['Later calls', deletion.suppress ? 'dropped (suppressed)' : 'accepted'],
            ['Erases before', <TimeText key="b" at={deletion.erasedBefore} />],
            ['Requested', <TimeText key="r" at={deletion.createdAt} withDistance />],
            ['Ended', deletion.endedAt === null ? 'not yet' : <TimeText key="e" at={deletion.endedAt} />],
            ['Id', <IdText key="i" id={deletion.id} />],
          ]}
        />
        <div className="small">
          <p className="dim">
            All that Millrace keeps of the user is this SHA-256 of workspace and user id, so that the events that are
            still stored are never sent again:
          </p>
          {userHashes.slice(0, 5).map((hash) => (
            <p key={hash}>
              <IdText id={hash} />
            </p>
          ))}
          {userHashes.length > 5 && <p className="dim">and {count(userHashes.length - 5)} more, in the receipt</p>}
        </div>
      </div>
    </Card>
  );
}
