import { count } from '../../format/numbers.ts';
import { Card } from '../../parts/card.tsx';
import { type ReplayJob, skippedWords } from '../../parts/job/replay-words.ts';

/** Events of the range that the replay does not send: the rules of today apply. */
export function LeftOut({ job }: { job: ReplayJob }) {
  const skipped = skippedWords(job.progress.skipped);
  return (
    <Card title="Left out">
      {skipped.length === 0 ? (
        <p className="pad soft">
          Nothing so far. A replay leaves out an event that the destination would not get today.
        </p>
      ) : (
        <table aria-label="Events that are left out, by reason">
          <thead>
            <tr>
              <th scope="col">Why</th>
              <th scope="col" className="num">
                Events
              </th>
            </tr>
          </thead>
          <tbody>
            {skipped.map(({ reason, words, count: skips }) => (
              <tr key={reason}>
                <td>
                  {words} <code className="dim">{reason}</code>
                </td>
                <td className="num">{count(skips)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  );
}
