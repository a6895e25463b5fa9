import type { Definition } from '@millrace/contract/control';
import { progressWords, shareOf } from './definition-standing.ts';

type ProgressMeterProps = { progress: Definition['progress']; label: string };

/** How far a computation or a first sync is; nothing while none runs. */
export function ProgressMeter({ progress, label }: ProgressMeterProps) {
  const words = progressWords(progress);
  if (words === undefined) return null;
  const share = shareOf(progress);
  return (
    <div>
      <div
        className="meter waiting"
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuetext={words}
        {...(share === undefined ? {} : { 'aria-valuenow': Math.round(share * 100) })}
      >
        <i style={{ width: `${(share ?? 0) * 100}%` }} />
      </div>
      <p className="small dim">{words}</p>
    </div>
  );
}
