import { useEffect, useState } from 'react';
import { Icon } from './icon.tsx';
import { toast } from './toasts.tsx';

const SHOWN_MS = 1_500;

/** Copies a text and says so for a moment. */
export function CopyButton({ text, label = 'Copy', children }: { text: string; label?: string; children?: string }) {
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setIsCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setIsCopied(true),
      () => toast({ text: 'The browser does not let the console copy. Select the text and copy it yourself.' }),
    );
  };
  const icon = <Icon name={isCopied ? 'check' : 'copy'} />;
  if (children === undefined) {
    return (
      <button type="button" className="copy" aria-label={isCopied ? 'Copied' : label} title={label} onClick={copy}>
        {icon}
      </button>
    );
  }
  return (
    <button type="button" className="btn quiet" onClick={copy}>
      {icon}
      {isCopied ? 'Copied' : children}
    </button>
  );
}
