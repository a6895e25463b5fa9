/** Short messages at the lower edge, with an undo where something can be undone. */
import { useSyncExternalStore } from 'react';
import { visible } from '../format/texts.ts';
import { Button, IconButton } from './button.tsx';
import { Icon } from './icon.tsx';

export type Toast = { text: string; undo?: () => void };
type Shown = Toast & { key: number };

const SHOWN_MS = 8_000;
let shown: readonly Shown[] = [];
let lastKey = 0;
const listeners = new Set<() => void>();

export function toast(message: Toast): void {
  lastKey += 1;
  const key = lastKey;
  set([...shown, { ...message, key }].slice(-3));
  setTimeout(() => drop(key), SHOWN_MS);
}

function drop(key: number): void {
  set(shown.filter((message) => message.key !== key));
}

function set(next: readonly Shown[]): void {
  shown = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toasts() {
  const messages = useSyncExternalStore(subscribe, () => shown);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {messages.map(({ key, text, undo }) => (
        <div className="toast" key={key}>
          <span className="outer">{visible(text)}</span>
          {undo !== undefined && (
            <Button
              small
              onClick={() => {
                undo();
                drop(key);
              }}
            >
              Undo
            </Button>
          )}
          <IconButton label="Close this message" onClick={() => drop(key)}>
            <Icon name="x" />
          </IconButton>
        </div>
      ))}
    </div>
  );
}
