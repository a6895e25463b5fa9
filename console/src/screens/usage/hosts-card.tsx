import { TextInput } from '@mantine/core';
import type { HostCheck, TargetHost, TargetHosts } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { reading, useChange } from '../../api/queries.ts';
import { useMay } from '../../api/session.tsx';
import type { StateName } from '../../format/state-name.ts';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { StateText } from '../../parts/state-mark.tsx';
import { OuterText, TimeText } from '../../parts/texts.tsx';

const MOST = 100;

/** The hosts that the workspace sends to, and the proof that they are its own. Only where the operator asks for proofs. */
export function HostsCard() {
  const mayWrite = useMay('destinations:write');
  const read = useQuery(reading<TargetHosts>('/target-hosts', { query: { limit: MOST } }));
  const check = useChange<string, HostCheck>({
    method: 'POST',
    path: '/target-hosts/check',
    body: (url) => ({ url }),
    renews: ['/target-hosts'],
  });
  if (read.data?.isNeeded !== true) return null;
  const { items, nextCursor } = read.data;
  const lookAt = mayWrite ? (origin: string) => check.mutate(origin) : undefined;
  return (
    <Card title="Hosts" aside={items.length}>
      <div className="pad stack">
        <p className="small dim">
          Millrace sends only to hosts that the workspace has proven to be its own, by a TXT record or by a file on the
          host. Hosts that a destination had before stay.
        </p>
        {check.error !== null && <ProblemNote error={check.error} what="The host was not checked." />}
        {check.data !== undefined && <Checked check={check.data} />}
        {mayWrite && <CheckForm isBusy={check.isPending} check={(url) => check.mutate(url)} />}
      </div>
      {items.length > 0 && <HostTable hosts={items} isBusy={check.isPending} check={lookAt} />}
      {nextCursor !== null && <p className="pad small dim">These are the first {MOST} hosts. The API lists all.</p>}
    </Card>
  );
}

function CheckForm({ isBusy, check }: { isBusy: boolean; check: (url: string) => void }) {
  const [url, setUrl] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    check(url);
  };
  return (
    <form className="stack" onSubmit={submit}>
      <TextInput
        label="URL of a receiver"
        placeholder="https://hooks.example.com"
        required
        value={url}
        onChange={(event) => setUrl(event.currentTarget.value)}
      />
      <div>
        <Button type="submit" isBusy={isBusy}>
          Check its host
        </Button>
      </div>
    </form>
  );
}

function Checked({ check: { ok, steps, host } }: { check: HostCheck }) {
  return (
    <div role="status">
      <Note state={ok ? 'delivered' : 'waiting'} title={`${host.host} is ${ok ? 'proven' : 'not proven yet'}.`}>
        <OuterText text={steps.map(({ detail }) => detail).join(' ')} most={400} /> {!ok && <HowTo host={host} />}
      </Note>
    </div>
  );
}

/** The text to publish, and where. */
function HowTo({ host: { host, proof } }: { host: TargetHost }) {
  const { text, recordName, path } = proof;
  return (
    <span className="sub">
      Publish <OuterText text={text} /> <CopyButton text={text} label={`Copy the text for ${host}`} />{' '}
      {recordName !== null && (
        <>
          as a TXT record of <OuterText text={recordName} most={260} />, or{' '}
        </>
      )}
      as the file {path} of the host.
    </span>
  );
}

const STATES: Readonly<Record<TargetHost['state'], { name: StateName; words: string }>> = {
  proven: { name: 'delivered', words: 'Proven' },
  unproven: { name: 'waiting', words: 'Not proven' },
  exempt: { name: 'skipped', words: 'No proof needed' },
};

type HostTableProps = { hosts: readonly TargetHost[]; isBusy: boolean; check: ((origin: string) => void) | undefined };

function HostTable({ hosts, isBusy, check }: HostTableProps) {
  return (
    <table className="folds">
      <thead>
        <tr>
          <th>Host</th>
          <th>State</th>
          <th>
            <span className="sr">Check</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {hosts.map((each) => (
          <tr key={each.host}>
            <td>
              <OuterText text={each.host} />
              {each.state === 'unproven' && <HowTo host={each} />}
            </td>
            <td data-label="State">
              <StateText state={STATES[each.state].name}>{STATES[each.state].words}</StateText>
              {each.provenAt !== null && (
                <span className="sub">
                  by a {each.way === 'dns' ? 'record' : 'file'}, <TimeText at={each.provenAt} />
                </span>
              )}
            </td>
            <td className="num">{check !== undefined && <CheckButton host={each} isBusy={isBusy} check={check} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type CheckButtonProps = { host: TargetHost; isBusy: boolean; check: (origin: string) => void };

function CheckButton({ host: { host, state, origin }, isBusy, check }: CheckButtonProps) {
  if (state !== 'unproven' || origin === null) return null;
  return (
    <Button small isBusy={isBusy} onClick={() => check(origin)}>
      Check<span className="sr"> {host}</span>
    </Button>
  );
}
