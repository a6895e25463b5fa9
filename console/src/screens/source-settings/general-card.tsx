import { NumberInput, TextInput } from '@mantine/core';
import type { Source } from '@millrace/contract/control';
import { type FormEvent, useState } from 'react';
import { useChange } from '../../api/queries.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Card, Facts } from '../../parts/card.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { tellError } from '../../parts/tell-error.ts';
import { IdText, TimeText } from '../../parts/texts.tsx';
import { toast } from '../../parts/toasts.tsx';

const MAIN_CELL = 'main';
const LONGEST_NAME = 200;
const HIGHEST_RATE = 10_000_000;

export function GeneralCard({ source, mayWrite }: { source: Source; mayWrite: boolean }) {
  return (
    <Card title="Source">
      <div className="pad stack">
        <Facts
          facts={[
            ['Id', <IdText key="id" id={source.id} />],
            ...cellFacts(source),
            ['Created', <TimeText key="created" at={source.createdAt} />],
            ['Changed', <TimeText key="changed" at={source.updatedAt} />],
          ]}
        />
        {mayWrite && <GeneralForm key={source.updatedAt} source={source} />}
        <div className="btns">
          <LinkButton small to="/sources/new" search={{ sourceId: source.id }}>
            Code that sends calls
          </LinkButton>
        </div>
      </div>
    </Card>
  );
}

function cellFacts({ cell, nextCell }: Source): (readonly [string, string])[] {
  if (nextCell !== undefined) return [['Cell', `${cell}, on its way to ${nextCell}`]];
  return cell === MAIN_CELL ? [] : [['Cell', cell]];
}

/** A change of the source from elsewhere starts the form anew. */
function GeneralForm({ source }: { source: Source }) {
  const [name, setName] = useState(source.name);
  const [rate, setRate] = useState<string | number>(source.rateLimitPerSecond ?? '');
  const rateLimitPerSecond = rate === '' ? null : Number(rate);
  const isSame = name === source.name && rateLimitPerSecond === source.rateLimitPerSecond;
  const change = useChange<Pick<Source, 'name' | 'rateLimitPerSecond'>>({
    method: 'PATCH',
    path: `/sources/${source.id}`,
    body: (to) => to,
    renews: ['/sources'],
  });
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (isSame || name.trim() === '') return;
    const before = { name: source.name, rateLimitPerSecond: source.rateLimitPerSecond };
    change.mutate(
      { name: name.trim(), rateLimitPerSecond },
      { onSuccess: () => toast({ text: 'Saved.', undo: () => void change.mutateAsync(before).catch(tellError) }) },
    );
  };
  return (
    <form className="stack" onSubmit={save}>
      <TextInput
        label="Name"
        value={name}
        maxLength={LONGEST_NAME}
        required
        autoComplete="off"
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <NumberInput
        label="Calls a second, at most"
        description="Collect answers 429 to calls above it. Empty: the limit of the installation."
        placeholder="Limit of the installation"
        value={rate}
        min={1}
        max={HIGHEST_RATE}
        allowDecimal={false}
        allowNegative={false}
        thousandSeparator=","
        hideControls
        onChange={setRate}
      />
      {change.error !== null && <ProblemNote error={change.error} what="The source was not changed." />}
      <div className="btns">
        <Button type="submit" disabled={isSame || name.trim() === ''} isBusy={change.isPending}>
          Save
        </Button>
      </div>
    </form>
  );
}
