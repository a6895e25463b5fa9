/** Says that the server brought a newer console. It never reloads by itself: somebody may be typing. */
import { useEffect, useState } from 'react';
import { onConsoleVersion } from '../api/ask-control.ts';
import { Button } from '../parts/button.tsx';

let own: string | undefined;

export function NewVersion() {
  const [isNewer, setIsNewer] = useState(false);
  useEffect(
    () =>
      onConsoleVersion((version) => {
        own ??= version;
        setIsNewer(version !== own);
      }),
    [],
  );
  if (!isNewer) return null;
  return (
    <div className="newer" role="status">
      <span>
        <b>Millrace was upgraded.</b> Reload when it suits you; what you typed stays until then.
      </span>
      <Button small look="ink" onClick={() => location.reload()}>
        Reload
      </Button>
    </div>
  );
}
