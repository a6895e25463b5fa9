import { CopyButton } from '../../copy-button.tsx';
import { visible } from '../../../format/texts.ts';
import look from '../destination.module.css';

/** A secret while it may be seen. */
export function ShownSecret({ secret }: { secret: string }) {
  return (
    <div className={look.secret}>
      <code>{visible(secret)}</code>
      <CopyButton text={secret}>Copy</CopyButton>
    </div>
  );
}
