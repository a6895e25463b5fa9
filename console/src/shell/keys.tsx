import { Dialog } from '../parts/dialog.tsx';
import { PLACES } from './use-shortcuts.ts';

const KEYS: readonly (readonly [string, string])[] = [
  ['Ctrl K', 'search or jump to anything'],
  ['/', 'the filter of the page'],
  ...Object.entries(PLACES).map(([key, { name }]) => [`g ${key}`, name] as const),
  ['j k', 'row down, row up'],
  ['Enter', 'open the row'],
  ['Space', 'hold or go on, in the live tail'],
  ['Esc', 'close the top layer'],
  ['?', 'this list'],
];

export default function Keys({ close }: { close(): void }) {
  return (
    <Dialog title="Keys" isOpen close={close}>
      <dl className="kv">
        {KEYS.map(([key, does]) => (
          <div className="fact" key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
