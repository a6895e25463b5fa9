import type { DeliveryDetails, Destination, RebuiltRequest } from '@millrace/contract/control';
import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { ApiError } from '../../api/ask-control.ts';
import { useMay } from '../../api/session.tsx';
import { listed } from '../../format/listed.ts';
import { hostOf, visible } from '../../format/texts.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Code } from '../../parts/code.tsx';
import { Icon } from '../../parts/icon.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { Note } from '../../parts/note.tsx';
import { WithoutPayloads } from '../../parts/without-payloads.tsx';
import { useSearchChange } from '../../parts/use-search-change.ts';
import { requestText } from './curl.ts';
import { SignatureDialog } from './signature-dialog.tsx';
import type { Chosen } from './use-chosen.ts';
import { type ReadRequest, useRequest } from './use-request.ts';

type RequestCardProps = { delivery: DeliveryDetails; destination: Destination | undefined; chosen: Chosen };

/** Millrace does not keep what it sent: it makes the request anew from the stored event, and says so. */
export function RequestCard({ delivery, destination, chosen }: RequestCardProps) {
  const [isOpen, setIsOpen] = useState(false);
  const maySee = useMay('payloads:read');
  const read = useRequest(delivery, destination, chosen);
  const { rebuilt } = read;
  const url = chosen.answer?.url;
  return (
    <Card
      title={<>Request{url === undefined ? '' : ` to ${visible(hostOf(url)).slice(0, 60)}`}</>}
      aside={rebuilt === undefined ? undefined : 'rebuilt'}
      right={
        <>
          <TargetSwitch chosen={chosen} />
          <Button small look="quiet" onClick={() => setIsOpen(true)}>
            <Icon name="key" />
            Verify signature
          </Button>
        </>
      }
    >
      <div className="pad stack">
        {!maySee ? (
          <WithoutPayloads what="The request is" />
        ) : rebuilt === undefined ? (
          <NotShown read={read} delivery={delivery} />
        ) : (
          <Shown rebuilt={rebuilt} />
        )}
      </div>
      {isOpen && (
        <SignatureDialog
          delivery={delivery}
          request={rebuilt?.request}
          at={chosen.attempt.at}
          close={() => setIsOpen(false)}
        />
      )}
    </Card>
  );
}

function Shown({ rebuilt }: { rebuilt: RebuiltRequest }) {
  const { request, mayDiffer, sentence } = rebuilt;
  return (
    <>
      <Code text={requestText(request)} label="request" />
      <p className="small dim">
        {sentence}
        {mayDiffer.length > 0 && ` May have been different: ${listed(mayDiffer)}.`}
        {request.isCut && ' The body is longer than what is shown.'}
      </p>
    </>
  );
}

const MISSING: Readonly<Record<NonNullable<ReadRequest['missing']>, string>> = {
  target: 'This URL is no longer a target of the destination.',
  attempt: 'Millrace cannot rebuild the request of this older attempt: a later one, of a replay, has its number.',
};

function NotShown({ read: { error, missing }, delivery }: { read: ReadRequest; delivery: DeliveryDetails }) {
  if (delivery.isErased) return <Note title="The request cannot be shown.">The user of this event was erased.</Note>;
  if (missing !== undefined) return <Note title="The request cannot be shown.">{MISSING[missing]}</Note>;
  if (error === null) return <LoadingRows rows={4} />;
  const problem = error instanceof ApiError ? error.problem : undefined;
  if (delivery.type === 'delete' && problem?.code === 'event_gone') {
    return (
      <Note title="The request cannot be shown.">
        Millrace made this notification for a deletion request: there is no stored event to rebuild it from.
      </Note>
    );
  }
  const reasons = (problem?.errors ?? []).map(({ message }) => message).join(' ');
  return (
    <Note title="The request cannot be shown.">
      Millrace rebuilds it from the stored event, and could not:{' '}
      {reasons === '' ? (problem?.detail ?? error.message) : reasons}{' '}
      {problem !== undefined && <code className="small">{problem.code}</code>}
    </Note>
  );
}

function TargetSwitch({ chosen }: { chosen: Chosen }) {
  const change = useSearchChange();
  const { answers } = chosen.attempt;
  if (answers.length < 2) return null;
  const place = Math.max(
    0,
    answers.findIndex(({ url }) => url === chosen.answer?.url),
  );
  return (
    <SegmentedControl
      aria-label="Target"
      size="xs"
      value={String(place)}
      onChange={(target) => change({ target })}
      data={answers.map(({ url }, index) => ({ value: String(index), label: visible(hostOf(url)).slice(0, 24) }))}
    />
  );
}
