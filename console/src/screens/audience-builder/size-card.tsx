/** How many users the draft would have, who some of them are, and which events are not in it. */
import type { DefinitionPreview } from '@millrace/contract/control';
import { completenessWords, estimateWords, sampleWords } from '../../parts/audience/definition-standing.ts';
import { UserLink } from '../../parts/audience/user-link.tsx';
import { ValueText } from '../../parts/audience/value-text.tsx';
import { Button } from '../../parts/button.tsx';
import { Card } from '../../parts/card.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { useNow } from '../../parts/use-now.ts';
import { milliseconds } from '../../format/numbers.ts';
import css from './builder.module.css';
import type { LiveSize } from './use-size.ts';

type SizeCardProps = { size: LiveSize; kind: 'audience' | 'trait' };

export function SizeCard({ size, kind }: SizeCardProps) {
  const { preview, isOld, isWhole } = size;
  return (
    <Card
      title="Size"
      aside="while you edit; nothing is sent"
      right={
        preview !== undefined &&
        !preview.isExact && (
          <Button small isBusy={size.isCounting} disabled={isOld} onClick={size.countExactly}>
            Count exactly
          </Button>
        )
      }
    >
      <div className="pad stack" role="status" aria-label="Live size" aria-busy={isOld && isWhole}>
        {preview !== undefined && <Estimate preview={preview} kind={kind} isOld={isOld} />}
        {!isWhole && (
          <p className="soft">
            {preview === undefined
              ? 'The size appears as soon as the condition is whole.'
              : 'The last whole condition. Finish this one to see its size.'}
          </p>
        )}
        {preview === undefined && isWhole && size.error === null && <p className="dim">Counting…</p>}
        {size.error !== null && <ProblemNote error={size.error} what="The size cannot be shown." />}
      </div>
      {preview !== undefined && <Samples preview={preview} kind={kind} isOld={isOld} />}
    </Card>
  );
}

type PreviewProps = { preview: DefinitionPreview; kind: 'audience' | 'trait'; isOld: boolean };

function Estimate({ preview, kind, isOld }: PreviewProps) {
  const now = useNow(60_000);
  const { size, range } = estimateWords(preview);
  const missing = completenessWords(preview, now);
  return (
    <>
      <div className={isOld ? css.old : undefined}>
        <div className={css.big}>
          <b>{size}</b>
          <span className="soft">
            {kind === 'audience' ? 'users' : 'users with a value'}, {range}
          </span>
        </div>
        <p className="small dim">
          {sampleWords(preview)}, in {milliseconds(preview.tookMs)}
        </p>
      </div>
      {missing === undefined ? (
        <p className="small dim">Complete: no event that it needs is missing.</p>
      ) : (
        <Note state="retrying" title={missing.title}>
          {missing.sentence}
        </Note>
      )}
    </>
  );
}

function Samples({ preview: { samples = [] }, kind, isOld }: PreviewProps) {
  if (samples.length === 0) return null;
  return (
    <table className={isOld ? css.old : undefined} aria-label="Some of the users">
      <thead>
        <tr>
          <th>{samples.length === 1 ? 'One of them' : `${samples.length} of them`}</th>
          {kind === 'trait' && <th className="num">Value</th>}
        </tr>
      </thead>
      <tbody>
        {samples.map(({ userId, anonymousId, value }) => (
          <tr key={`${userId ?? ''} ${anonymousId ?? ''}`}>
            <td>
              <UserLink userId={userId} anonymousId={anonymousId} />
            </td>
            {kind === 'trait' && (
              <td className="num">
                <ValueText value={value} most={40} />
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
