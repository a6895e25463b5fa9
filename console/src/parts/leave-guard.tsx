import { useBlocker } from '@tanstack/react-router';
import type { RefObject } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

/** Asks before a page with typed changes is left; not when the thing itself is gone, or saved. */
export function LeaveGuard({ isOn, isGone }: { isOn: boolean; isGone: RefObject<boolean> }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isOn && !isGone.current && current.pathname !== next.pathname,
    enableBeforeUnload: isOn,
    withResolver: true,
  });
  return (
    <Dialog title="Leave without saving?" isOpen={status === 'blocked'} close={() => reset?.()}>
      <div className="stack">
        <p>The changes that you typed on this page are lost.</p>
        <div className="btns end">
          <Button onClick={() => proceed?.()}>Leave the page</Button>
          <Button look="ink" onClick={() => reset?.()}>
            Stay here
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
