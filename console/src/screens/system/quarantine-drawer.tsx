import type { QuarantineDetails } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Static } from 'typebox';
import { reading, useChange } from '../../api/queries.ts';
import { bytes } from '../../format/numbers.ts';
import { Button } from '../../parts/button.tsx';
import { Facts } from '../../parts/card.tsx';
import { Code, Json } from '../../parts/code.tsx';
import { Confirm, SideDrawer } from '../../parts/dialog.tsx';
import { LoadingRows } from '../../parts/list-states.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { IdText, OuterText, TimeText } from '../../parts/texts.tsx';
import { toast } from '../../parts/toasts.tsx';

type Details = Static<typeof QuarantineDetails>;

export function QuarantineDrawer({ id, close }: { id: string; close(): void }) {
  const item = useQuery(reading<Details>(`/quarantine/${encodeURIComponent(id)}`));
  const shown = item.data?.id === id ? item.data : undefined;
  return (
    <SideDrawer title="Message in quarantine" isOpen close={close}>
      {item.error !== null && <ProblemNote error={item.error} what="The message cannot be shown." />}
      {shown === undefined ? item.error === null && <LoadingRows /> : <Shown item={shown} close={close} />}
    </SideDrawer>
  );
}

function Shown({ item, close }: { item: Details; close(): void }) {
  return (
    <div className="stack">
      <p>
        <OuterText text={item.reason} most={1_000} />
      </p>
      <Facts
        facts={[
          ['Id', <IdText key="id" id={item.id} />],
          ['Kind', item.kind],
          ['Stream', <code key="stream">{item.stream}</code>],
          ['Subject', <OuterText key="subject" text={item.subject} most={200} />],
          ['Sequence', String(item.sequence)],
          ['Size', bytes(item.bytes)],
          ['Since', <TimeText key="at" at={item.quarantinedAt} withDistance />],
        ]}
      />
      {Object.keys(item.headers).length > 0 && <Json value={item.headers} label="headers" />}
      {item.payloadBase64 === null ? (
        <Note title="The message is not shown.">
          It belongs to another workspace, or your role in this one sees no payloads. An operator sees no payloads of
          others.
        </Note>
      ) : (
        <Code text={textOf(item.payloadBase64)} label="message" />
      )}
      <Actions id={item.id} isBack={item.kind !== 'config' && item.kind !== 'health'} close={close} />
    </div>
  );
}

/** The bytes as text; bytes that are no text become marks. */
function textOf(base64: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
}

function Actions({ id, isBack, close }: { id: string; isBack: boolean; close(): void }) {
  const [asks, setAsks] = useState<'redrive' | 'delete' | undefined>();
  const path = `/quarantine/${encodeURIComponent(id)}`;
  const redrive = useChange({ method: 'POST', path: `${path}/redrive`, renews: ['/quarantine', '/system'] });
  const remove = useChange({ method: 'DELETE', path, renews: ['/quarantine', '/system'] });
  const done = (text: string) => () => {
    toast({ text });
    close();
  };
  return (
    <div className="btns">
      {isBack && (
        <Button look="ink" onClick={() => setAsks('redrive')}>
          Put back
        </Button>
      )}
      <Button look="danger" onClick={() => setAsks('delete')}>
        Delete
      </Button>
      <Confirm
        title="Put this message back?"
        verb="Put back"
        keep="Leave it here"
        isOpen={asks === 'redrive'}
        close={() => setAsks(undefined)}
        isBusy={redrive.isPending}
        error={redrive.error}
        confirm={() => redrive.mutate(undefined, { onSuccess: done('The message is back in its stream.') })}
      >
        <p>A role processes it again at once. Without a fix or a newer version it comes back here.</p>
      </Confirm>
      <Confirm
        title="Delete this message for good?"
        verb={`Delete ${id}`}
        typed={id}
        isOpen={asks === 'delete'}
        close={() => setAsks(undefined)}
        isBusy={remove.isPending}
        error={remove.error}
        confirm={() => remove.mutate(undefined, { onSuccess: done('The message is deleted.') })}
      >
        <p>
          Whatever it holds is lost: an event in it is not delivered. The audit log of the installation keeps that you
          did this.
        </p>
      </Confirm>
    </div>
  );
}
