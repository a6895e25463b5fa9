import type { DestinationPreview } from '@millrace/contract/control';
import { count } from '../../../format/numbers.ts';
import { visible } from '../../../format/texts.ts';
import look from '../destination.module.css';
import { ratePerMinute, withoutLead } from './preview-words.ts';

/** How many would be sent and how many not, as a bar and in words. The editor tells what each rule stops; other reasons stand here. */
export function PreviewTotal({ preview }: { preview: DestinationPreview }) {
  const { delivered, skipped, looked } = preview;
  const rate = ratePerMinute(preview);
  return (
    <div role="status">
      <div className={look.split} aria-hidden="true">
        {delivered.count > 0 && <i className="dot delivered" style={{ flex: delivered.count }} />}
        {skipped.count > 0 && <i className="dot skipped" style={{ flex: skipped.count }} />}
      </div>
      <p>
        <b>
          {count(delivered.count)} of {count(looked.events)} would be sent,
        </b>{' '}
        <span className="soft">
          {count(skipped.count)} not.{rate === undefined ? '' : ` About ${rate}.`}
        </span>
      </p>
      {skipped.by
        .filter(({ rule }) => rule === null)
        .map(({ reason, sentence, count: many }) => (
          <p className="small dim" key={reason}>
            {count(many)}: {visible(withoutLead(sentence))} <code>{reason}</code>
          </p>
        ))}
      {(looked.endedBy === 'time' || looked.endedBy === 'size') && (
        <p className="small dim">The look at stored events ended early, after {count(looked.events)}.</p>
      )}
    </div>
  );
}
