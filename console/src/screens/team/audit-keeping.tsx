/** The audit log beside its entries: its last check, its export, and the URL that its entries are sent to. */
import { TextInput } from '@mantine/core';
import type { AuditCheck, AuditStream, CreatedAuditStream } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Static } from 'typebox';
import { ApiError, askStream } from '../../api/ask-control.ts';
import { reading, useChange } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import { shortWords } from '../../format/codes.ts';
import { count, counted } from '../../format/numbers.ts';
import { Button } from '../../parts/button.tsx';
import { Card, Facts } from '../../parts/card.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { tellError } from '../../parts/tell-error.ts';
import { OuterText, TimeText } from '../../parts/texts.tsx';
import { ShownOnce } from './shown-once.tsx';

export function AuditKeeping() {
  const check = useQuery(reading<AuditCheck>('/audit-log/check', { every: 60_000 }));
  return (
    <Card title="Check, export and stream" right={<ExportButton />}>
      <div className="pad stack">
        {check.error !== null && <ProblemNote error={check.error} what="The last check cannot be shown." />}
        {check.data !== undefined && <Checked check={check.data} />}
        <StreamPart />
      </div>
    </Card>
  );
}

function Checked({ check: { state, checkedAt, entries, brokenSequence, why } }: { check: AuditCheck }) {
  if (state === 'unchecked' || checkedAt === null) {
    return <p>Millrace has not checked this log yet: it checks every log each hour.</p>;
  }
  if (state === 'holds') {
    return (
      <p>
        The hash chain of {counted(entries, 'entry', 'entries')} holds, checked <TimeText at={checkedAt} withDistance />
        .
      </p>
    );
  }
  return (
    <Note state="givenup" title={`Entry ${brokenSequence} does not fit:`}>
      {why}. Checked <TimeText at={checkedAt} withDistance />. Tell the people who run Millrace.
    </Note>
  );
}

function ExportButton() {
  const [isBusy, setIsBusy] = useState(false);
  const save = async () => {
    setIsBusy(true);
    try {
      const body = await askStream('/audit-log/export', {});
      const url = URL.createObjectURL(await new Response(body).blob());
      const link = document.createElement('a');
      link.href = url;
      link.download = 'audit.ndjson';
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 1_000);
    } catch (error) {
      tellError(error instanceof Error ? error : new Error(String(error)));
    } finally {
      setIsBusy(false);
    }
  };
  return (
    <Button small isBusy={isBusy} onClick={() => void save()}>
      Export (NDJSON)
    </Button>
  );
}

function StreamPart() {
  const mayWrite = useMay('audit:write');
  const read = useQuery(reading<AuditStream | null>('/audit-log/stream', { every: 15_000 }));
  const stream = read.data ?? undefined;
  return (
    <>
      {read.error !== null && <ProblemNote error={read.error} what="The stream cannot be shown." />}
      {read.data === null && <p>The entries are sent to no URL.</p>}
      {stream !== undefined && <Stream stream={stream} />}
      {mayWrite && (
        <div className="btns">
          <SetButton isSet={stream !== undefined} />
          {stream !== undefined && <RemoveButton />}
        </div>
      )}
    </>
  );
}

function Stream({ stream }: { stream: AuditStream }) {
  const { url, position, waiting, failures, lastError, nextAt, deliveredAt } = stream;
  return (
    <>
      <Facts
        facts={[
          ['Sent to', <OuterText key="url" text={url} most={120} />],
          ['Taken', `up to entry ${count(position)}; ${counted(waiting, 'entry waits', 'entries wait')}`],
          ['Last taken', deliveredAt === null ? 'not yet' : <TimeText key="at" at={deliveredAt} withDistance />],
        ]}
      />
      {failures > 0 && (
        <Note
          state="retrying"
          title={`${counted(failures, 'attempt', 'attempts')} failed in a row: ${reasonOf(lastError ?? '')}.`}
        >
          {nextAt !== null && (
            <>
              The next one comes <TimeText at={nextAt} withDistance />.
            </>
          )}
        </Note>
      )}
    </>
  );
}

/** Deliver sends the entries; without a deliver process there is no answer of the receiver. */
function reasonOf(errorClass: string): string {
  return errorClass.startsWith('deliver_') ? 'no deliver process sent them' : shortWords(errorClass).toLowerCase();
}

type Made = Static<typeof CreatedAuditStream>;

function SetButton({ isSet }: { isSet: boolean }) {
  const [isOpen, setIsOpen] = useState(false);
  const set = useChange<string, Made>({
    method: 'POST',
    path: '/audit-log/stream',
    body: (url) => ({ url }),
    renews: ['/audit-log/stream'],
  });
  const close = () => {
    setIsOpen(false);
    set.reset();
  };
  return (
    <>
      <Button small onClick={() => setIsOpen(true)}>
        {isSet ? 'Change the URL…' : 'Send entries to a URL…'}
      </Button>
      <Dialog
        title={set.data === undefined ? 'Send the audit log to a URL' : 'The secret'}
        isOpen={isOpen}
        close={close}
      >
        {set.data === undefined ? (
          <UrlForm send={set.mutate} isBusy={set.isPending} error={set.error} close={close} />
        ) : (
          <div className="stack">
            <ShownOnce
              label="Secret for webhook-signature"
              text={set.data.secret}
              kept="Millrace keeps it sealed and cannot show it again."
            />
            <div className="btns end">
              <Button look="ink" onClick={close}>
                Done
              </Button>
            </div>
          </div>
        )}
      </Dialog>
    </>
  );
}

type UrlFormProps = { send(url: string): void; isBusy: boolean; error: Error | null; close(): void };

function UrlForm({ send, isBusy, error, close }: UrlFormProps) {
  const [url, setUrl] = useState('');
  const problems = error instanceof ApiError ? (error.problem.errors ?? []) : [];
  const refused = problems.find(({ path }) => path === '/url')?.message;
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        send(url);
      }}
    >
      <TextInput
        label="URL"
        description="Every entry from now on is sent there, signed. The secret that signs is shown once, after this."
        inputWrapperOrder={['label', 'input', 'error', 'description']}
        placeholder="https://example.com/audit"
        data-autofocus
        required
        value={url}
        error={refused === undefined ? undefined : `The URL ${refused}.`}
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
      {error !== null && refused === undefined && <ProblemNote error={error} />}
      <div className="btns end">
        <Button onClick={close}>Cancel</Button>
        <Button look="ink" type="submit" disabled={url === ''} isBusy={isBusy}>
          Send from now on
        </Button>
      </div>
    </form>
  );
}

function RemoveButton() {
  const remove = useChange({ method: 'DELETE', path: '/audit-log/stream', renews: ['/audit-log/stream'] });
  return (
    <Button
      small
      look="quiet"
      isBusy={remove.isPending}
      onClick={() => remove.mutate(undefined, { onError: tellError })}
    >
      Stop sending
    </Button>
  );
}
