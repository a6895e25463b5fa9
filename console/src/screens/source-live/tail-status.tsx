import { count } from '../../format/numbers.ts';
import { Button } from '../../parts/button.tsx';
import styles from './source-live.module.css';
import { StreamText } from '../../parts/tail/stream-text.tsx';
import type { Tail } from '../../parts/tail/use-tail.ts';

type TailStatusProps = { tail: Tail; isPaused: boolean; isHeld: boolean; fresh: number; showFresh(): void };

/** Whether the list moves: live, held while the pointer rests on it, or paused; and how many calls came meanwhile. */
export function TailStatus({ tail: { state }, isPaused, isHeld, fresh, showFresh }: TailStatusProps) {
  const isQuiet = state.name === 'live' && isHeld;
  return (
    <div className={`small ${styles.status}`}>
      {isQuiet ? (
        <span className="dim">{isPaused ? 'Paused' : 'Held while you read'}</span>
      ) : (
        <StreamText state={state} />
      )}
      {isHeld && fresh > 0 && (
        <Button small onClick={showFresh}>
          {count(fresh)} new
        </Button>
      )}
      {!isHeld && state.name === 'live' && <span className="dim m-hide">· this page keeps the newest 500</span>}
    </div>
  );
}
