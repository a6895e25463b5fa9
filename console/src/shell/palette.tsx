/** The command palette: an exact id first, then things by name, then pages. */
import type { Destination, Source } from '@millrace/contract/control';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useState } from 'react';
import { readingDefinitions } from '../api/definitions.ts';
import { type Page, reading } from '../api/queries.ts';
import { useMay } from '../api/session.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { OuterText } from '../parts/texts.tsx';
import { idEntries, pageEntries, type PaletteEntry } from './palette-entries.ts';

const MOST = 12;

export default function Palette({ close }: { close(): void }) {
  const [text, setText] = useState('');
  const [place, setPlace] = useState(0);
  const navigate = useNavigate();
  const entries = useEntries(text).slice(0, MOST);
  const choose = (entry: PaletteEntry | undefined) => {
    if (entry === undefined || entry.needs !== undefined) return;
    close();
    void navigate({
      to: entry.to as '/',
      params: (entry.params ?? {}) as never,
      search: (entry.search ?? {}) as never,
    });
  };
  const pressed = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setPlace((place + step + entries.length) % Math.max(entries.length, 1));
    } else if (event.key === 'Enter') choose(entries[place]);
  };
  return (
    <Dialog title="Search or jump to" isOpen close={close}>
      <input
        className="input"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette"
        aria-activedescendant={entries.length > 0 ? `palette-${place}` : undefined}
        aria-label="A name, an id, a page"
        placeholder="A name, an id, a page"
        data-autofocus
        value={text}
        onKeyDown={pressed}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setPlace(0);
        }}
      />
      <div id="palette" className="palette" role="listbox" aria-label="Matches">
        {entries.map((entry, index) => (
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the input above has the keys
          <div
            key={`${entry.kind} ${entry.name} ${entry.detail ?? ''}`}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            className="palette-entry"
            aria-selected={index === place}
            aria-disabled={entry.needs !== undefined}
            onClick={() => choose(entry)}
          >
            <OuterText text={entry.name} />
            <span className="dim small">{entry.needs === undefined ? entry.kind : `needs ${entry.needs}`}</span>
          </div>
        ))}
        {entries.length === 0 && <div className="dim">Nothing has this name. Paste an id to open it.</div>}
      </div>
    </Dialog>
  );
}

function useEntries(text: string): PaletteEntry[] {
  const mayBuild = useMay('destinations:write');
  const sources = useQuery(reading<Page<Source>>('/sources', { query: { limit: 100 } }));
  const destinations = useQuery(reading<Page<Destination>>('/destinations', { query: { limit: 100 } }));
  const definitions = useQuery(readingDefinitions());
  const wanted = text.trim().toLowerCase();
  const things: PaletteEntry[] = [
    ...(destinations.data?.items ?? []).map(({ id, name }) => ({
      kind: 'destination',
      name,
      detail: id,
      to: '/destinations/$id',
      params: { id },
    })),
    ...(definitions.data?.items ?? []).map(({ id, name, kind }) => ({
      kind: kind === 'audience' ? 'audience' : 'computed trait',
      name,
      detail: id,
      to: '/audiences/$id',
      params: { id },
    })),
    ...(sources.data?.items ?? []).map(({ id, name }) => ({
      kind: 'source',
      name,
      detail: id,
      to: '/sources/$id',
      params: { id },
    })),
  ];
  const named = [...things, ...pageEntries(mayBuild)].filter(({ name }) => name.toLowerCase().includes(wanted));
  return [...idEntries(text.trim()), ...named];
}
