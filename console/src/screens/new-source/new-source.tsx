import type { Source } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { reading } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { Icon } from '../../parts/icon.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Sentence } from '../../parts/sentence.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { Page } from '../../shell/page.tsx';
import { FirstCall } from './first-call.tsx';
import { NameForm } from './name-form.tsx';
import styles from './new-source.module.css';
import { SendCard } from './send-card.tsx';
import { useFirstCall } from './use-first-call.ts';

/** The source is in the URL from its first moment on: a reload goes on where it was. */
export function NewSource() {
  const { sourceId } = useSearch({ from: '/shell/sources/new' });
  const mayWrite = useMay('sources:write');
  return (
    <Page title="New source" above={[{ name: 'Sources', to: '/sources' }]}>
      {sourceId !== undefined && <Connect sourceId={sourceId} />}
      {sourceId === undefined && mayWrite && (
        <Frame step={1} sentence="Name the source: where do the calls come from?">
          <NameForm />
        </Frame>
      )}
      {sourceId === undefined && !mayWrite && (
        <Note title="A new source needs the role developer.">Ask an owner or admin of the workspace.</Note>
      )}
    </Page>
  );
}

function Connect({ sourceId }: { sourceId: string }) {
  const source = useQuery(reading<Source>(`/sources/${encodeURIComponent(sourceId)}`));
  if (source.data === undefined) {
    if (source.error === null) return <LoadingRows />;
    return <ProblemNote error={source.error} what="The source cannot be shown." retry={() => void source.refetch()} />;
  }
  return <Connected key={source.data.id} source={source.data} />;
}

function Connected({ source }: { source: Source }) {
  const first = useFirstCall(source.id);
  const name = <OuterText text={source.name} most={60} />;
  const { call, isFresh } = first;
  const isHere = call !== undefined;
  return (
    <Frame
      step={isHere ? 4 : 2}
      arrived={isHere ? (isFresh ? 'The first call is here.' : 'Connected.') : undefined}
      sentence={<ConnectedWords name={name} isFresh={isFresh} at={call?.at} />}
      detail={name}
    >
      {isHere && isFresh && <FirstCall source={source} first={first} />}
      <SendCard source={source} />
      {!(isHere && isFresh) && <FirstCall source={source} first={first} />}
    </Frame>
  );
}

type ConnectedWordsProps = { name: React.ReactNode; isFresh: boolean; at: string | undefined };

function ConnectedWords({ name, isFresh, at }: ConnectedWordsProps) {
  if (at === undefined) return <>Send a first call from {name}. This page shows it as it arrives.</>;
  if (isFresh) return <>{name} is connected.</>;
  return (
    <>
      The latest call of {name} arrived at <TimeText at={at} />.
    </>
  );
}

const STEPS = [
  ['Name', ''],
  ['Send a call', 'library or curl, key filled in'],
  ['First call', 'seen here as it arrives'],
] as const;

type FrameProps = {
  step: number;
  sentence: React.ReactNode;
  /** The words in green when the call is there. */
  arrived?: string | undefined;
  detail?: React.ReactNode;
  children: React.ReactNode;
};

function Frame({ step, sentence, arrived, detail, children }: FrameProps) {
  return (
    <>
      <Sentence state={arrived === undefined ? undefined : { name: 'delivered', words: arrived }}>{sentence}</Sentence>
      <div className={styles.steps}>
        <ol className={styles.list} aria-label="Steps">
          {STEPS.map(([name, words], place) => (
            <li className={styles.step} key={name} aria-current={place + 1 === step ? 'step' : undefined}>
              <span className={styles.mark}>{place + 1 < step ? <Icon name="check" /> : place + 1}</span>
              {name}
              <small>{place === 0 ? (detail ?? 'as the console will call it') : words}</small>
            </li>
          ))}
        </ol>
        <div className="stack">{children}</div>
      </div>
    </>
  );
}
