/** Headers that Millrace sends with every request to one URL. Their values are secrets: stored ones are never shown. */
import { TextInput } from '@mantine/core';
import { Button, IconButton } from '../../button.tsx';
import { Icon } from '../../icon.tsx';
import look from '../destination.module.css';
import { type DraftHeader, type DraftTarget, emptyHeader, headerProblem, isKept, MOST_HEADERS } from './targets.ts';

type HeaderEditorProps = { target: DraftTarget; change(target: DraftTarget): void };

export function HeaderEditor({ target, change }: HeaderEditorProps) {
  const put = (header: DraftHeader) =>
    change({ ...target, headers: target.headers.map((other) => (other.key === header.key ? header : other)) });
  return (
    <div className={look.headers}>
      <p className="small dim">
        Millrace sends these with every request to this URL, for example Authorization. It seals their values and never
        shows them again.
      </p>
      {target.headers.map((header) => (
        <HeaderRow
          key={header.key}
          target={target}
          header={header}
          change={put}
          remove={() => change({ ...target, headers: target.headers.filter(({ key }) => key !== header.key) })}
        />
      ))}
      <div>
        <Button
          small
          disabled={target.headers.length >= MOST_HEADERS}
          onClick={() => change({ ...target, headers: [...target.headers, emptyHeader()] })}
        >
          <Icon name="plus" />
          Add a header
        </Button>
      </div>
    </div>
  );
}

type HeaderRowProps = { target: DraftTarget; header: DraftHeader; change(header: DraftHeader): void; remove(): void };

function HeaderRow({ target, header, change, remove }: HeaderRowProps) {
  return (
    <div className={look.header}>
      <TextInput
        className={look.mono ?? ''}
        aria-label="Name of the header"
        placeholder="Authorization"
        autoComplete="off"
        spellCheck={false}
        readOnly={header.isStored}
        value={header.name}
        onChange={(event) => change({ ...header, name: event.currentTarget.value })}
      />
      {isKept(target, header) ? (
        <span className={look.kept}>
          <span className="dim">stored, hidden</span>
          <Button small onClick={() => change({ ...header, isStored: false })}>
            Replace
          </Button>
        </span>
      ) : (
        <TextInput
          className={look.mono ?? ''}
          aria-label={`Value of ${header.name === '' ? 'the header' : header.name}`}
          placeholder="Bearer …"
          autoComplete="off"
          spellCheck={false}
          maxLength={4_096}
          value={header.value}
          error={headerProblem(target, header)}
          onChange={(event) => change({ ...header, value: event.currentTarget.value })}
        />
      )}
      <IconButton label={`Remove the header ${header.name}`} onClick={remove}>
        <Icon name="x" />
      </IconButton>
    </div>
  );
}
