import type { Source } from '@millrace/contract/control';
import { LinkButton } from '../../parts/button.tsx';
import { Facts } from '../../parts/card.tsx';
import { Json } from '../../parts/code.tsx';
import { SideDrawer } from '../../parts/dialog.tsx';
import { Note } from '../../parts/note.tsx';
import { IdText, OuterText, TimeText } from '../../parts/texts.tsx';
import { CallOutcomes } from './call-outcomes.tsx';
import { RefusalText } from '../../parts/tail/refusal-text.tsx';
import styles from './source-live.module.css';
import type { CallRow, TailRow } from '../../parts/tail/tail-rows.ts';

type CallDrawerProps = {
  source: Source;
  show: string;
  row: TailRow | undefined;
  /** Rows change in place: a new version may have new outcomes. */
  version: number;
  close(): void;
};

export function CallDrawer({ source, show, row, close }: CallDrawerProps) {
  const call = row === undefined || row.kind === 'left-out' ? undefined : row;
  const name = call?.kind === 'refused' ? 'Refused call' : (call?.name ?? 'Call');
  const messageId = call === undefined ? show : call.messageId;
  return (
    <SideDrawer
      isOpen
      close={close}
      title={
        <>
          <OuterText text={name} most={60} />{' '}
          {call?.type !== undefined && <span className="tag">{call.type.slice(0, 10)}</span>}
        </>
      }
    >
      <div className="stack">
        {call === undefined && (
          <Note title="This call is no longer in the tail.">Its journey shows what Millrace keeps of it.</Note>
        )}
        {messageId !== undefined && !messageId.startsWith('#') && (
          <div className="btns">
            <LinkButton small to="/events/$messageId" params={{ messageId }} search={{ sourceId: source.id }}>
              Open journey
            </LinkButton>
          </div>
        )}
        {call?.kind === 'refused' && <Refused source={source} call={call} />}
        {call?.kind === 'accepted' && <CallOutcomes sourceId={source.id} call={call} />}
        {call !== undefined && <CallFacts call={call} />}
        {call?.call !== undefined && (
          <div>
            <h3 className={styles.h}>The call as it was sent</h3>
            <Json value={call.call} label="the call" foldsAfter={60} />
          </div>
        )}
        {call?.kind === 'accepted' && call.call === undefined && (
          <p className="soft">
            The call is larger than 8 KiB: the tail does not carry it. Its journey has it while it is stored.
          </p>
        )}
      </div>
    </SideDrawer>
  );
}

function Refused({ source, call }: { source: Source; call: CallRow }) {
  return (
    <>
      <Note state="refused" title="Millrace refused this call.">
        <RefusalText code={call.code ?? ''} message={call.message ?? ''} />
      </Note>
      <p className="soft">
        It is not stored, and no destination gets it. Change the code that sends it; the client may send the call again.
      </p>
      <div className="btns">
        <LinkButton small to="/sources/$id/settings" params={{ id: source.id }} hash="refusals">
          Samples of refused calls
        </LinkButton>
      </div>
    </>
  );
}

type Sent = { timestamp?: unknown; context?: { library?: { name?: unknown; version?: unknown } } };

function CallFacts({ call }: { call: CallRow }) {
  const { timestamp, context } = (call.call ?? {}) as Sent;
  const library = context?.library;
  const facts = [
    ['Received', <TimeText key="at" at={call.at} toMs />],
    call.userId !== undefined && ['User', <IdText key="user" id={call.userId} />],
    call.anonymousId !== undefined && ['anonymousId', <IdText key="anonymous" id={call.anonymousId} />],
    call.messageId !== undefined && ['messageId', <IdText key="message" id={call.messageId} />],
    typeof timestamp === 'string' && ['Happened', <Happened key="happened" text={timestamp} />],
    typeof library?.name === 'string' && [
      'Sent by',
      <OuterText
        key="library"
        text={`${library.name} ${typeof library.version === 'string' ? library.version : ''}`}
      />,
    ],
  ].filter((fact) => fact !== false) as [string, React.ReactNode][];
  return (
    <div>
      <h3 className={styles.h}>Call</h3>
      <Facts facts={facts} />
    </div>
  );
}

/** The client wrote this time: it may be anything. */
function Happened({ text }: { text: string }) {
  const isTime = !Number.isNaN(new Date(text).getTime());
  return isTime ? <TimeText at={text} toMs /> : <OuterText text={text} most={40} />;
}
